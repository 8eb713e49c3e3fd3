import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeClient } from '../../test/kit/fake-client.js';
import { advanceTime, useFakeTime } from '../../test/kit/fake-time.js';
import { definition } from '../../test/kit/offers.js';
import { flushPromises } from '../../test/kit/promises.js';
import { Naming } from '../config/naming.js';
import { UNFETCHED_LISTING, type Listing } from '../core/catalog/catalog.js';
import { EVERYTHING, NOTHING, type Scope } from '../core/scope.js';
import { Registry } from '../registry/registry.service.js';
import type { Backend } from './backend.js';
import type { IsolatedLinks } from './isolated-links.js';
import { SESSION_LISTING_WAIT_MS, SessionListings } from './session-listings.js';

useFakeTime();

const listingOf = (...tools: string[]): Listing => ({
  ...UNFETCHED_LISTING,
  tools: tools.map((name) => definition(name)),
});

/** A backend whose shared link lists the tool `x`. */
class FakeBackend {
  readonly hasSessionLinks = true;
  listing = listingOf('x');
  isLinked = false;
  /** The open calls of `sessions.whenListed`. */
  readonly opened: { resolve(): void; reject(error: Error): void }[] = [];
  readonly isolatedLinks: Pick<IsolatedLinks, 'hasLink' | 'whenListed'> = {
    hasLink: () => this.isLinked,
    whenListed: () => new Promise((resolve, reject) => this.opened.push({ resolve, reject })),
  };

  constructor(readonly id: string) {}

  get asBackend(): Backend {
    return this as unknown as Backend;
  }
}

class Harness {
  readonly registry = new Registry(new Naming());
  refused = 0;
  readonly listings = new SessionListings(this.registry, () => this.refused++);
  readonly backend = new FakeBackend('a');
  readonly client = new FakeClient('one');
  readonly changes: [string, readonly string[]][] = [];

  static async create(): Promise<Harness> {
    const harness = new Harness();
    harness.listings.onChange((owner, kinds) => harness.changes.push([owner.id, kinds]));
    harness.listings.add(harness.backend.asBackend);
    await harness.putShared();
    return harness;
  }

  async putShared(listing = this.backend.listing): Promise<void> {
    this.backend.listing = listing;
    await this.registry.put({ id: 'a', rank: 0, listing, style: 'always', disabledTools: new Set() });
    await this.listings.sharedListingChanged(this.backend.asBackend);
  }

  listed(...tools: string[]): Promise<void> {
    return this.listings.listed(this.backend.asBackend, this.client, listingOf(...tools));
  }

  toolsOf(client = this.client): string[] {
    const scope = this.listings.scopeOf(EVERYTHING, { linkOwner: client });
    return [...this.registry.catalogOf(scope).tools.view(scope).after('')].map(({ ownName }) => ownName);
  }

  /** Waits as a list of the client does. */
  list(scope: Scope = EVERYTHING): Promise<void> | undefined {
    return this.listings.whenListed(scope, { linkOwner: this.client });
  }
}

describe('SessionListings', () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await Harness.create();
  });

  it('has a list wait until the server has listed over the link of the session', async () => {
    let isDone = false;
    void harness.list()!.then(() => (isDone = true));
    await advanceTime(SESSION_LISTING_WAIT_MS - 1);
    expect(isDone).toBe(false);
    await harness.listed('x', 'y');
    harness.backend.opened[0]!.resolve();
    await flushPromises();
    expect(isDone).toBe(true);
    expect(harness.toolsOf()).toEqual(['x', 'y']);
    expect(harness.list()).toBeUndefined();
    expect(harness.changes).toEqual([]);
  });

  it('answers with the shared listing after the wait, and reports the listing that comes later', async () => {
    let isDone = false;
    void harness.list()!.then(() => (isDone = true));
    await advanceTime(SESSION_LISTING_WAIT_MS);
    expect([isDone, harness.toolsOf()]).toEqual([true, ['x']]);
    harness.backend.isLinked = true;
    expect(harness.list()).toBeUndefined();
    await harness.listed('x', 'y');
    expect(harness.changes).toEqual([['one', ['tools']]]);
    expect(harness.toolsOf()).toEqual(['x', 'y']);
  });

  it('opens the link again when it failed, once in five seconds', async () => {
    const first = harness.list();
    harness.backend.opened[0]!.reject(new Error('spawn failed'));
    await first;
    expect(harness.list()).toBeUndefined();
    await advanceTime(SESSION_LISTING_WAIT_MS);
    expect(harness.list()).toBeInstanceOf(Promise);
    expect(harness.backend.opened).toHaveLength(2);
  });

  it.each<[string, Scope, readonly string[], boolean]>([
    ['belongs to the server', EVERYTHING, ['a'], true],
    ['may belong to any server', EVERYTHING, [], true],
    ['belongs to another server', EVERYTHING, ['b'], false],
    ['may belong to any server of a scope without it', NOTHING, [], false],
  ])('has a request by an unknown name wait only if the name %s', (_what, scope, owners, waits) => {
    const request = { linkOwner: harness.client, scope };
    expect(harness.listings.updateScopeWhenListed(request, owners) !== undefined).toBe(waits);
    expect(harness.backend.opened).toHaveLength(waits ? 1 : 0);
  });

  it('opens no link without a session, or outside the scope', () => {
    expect(harness.listings.whenListed(EVERYTHING, {})).toBeUndefined();
    expect(harness.list(NOTHING)).toBeUndefined();
    expect(harness.backend.opened).toEqual([]);
  });

  it('reports a change to the session that it concerns, and no change of an equal list', async () => {
    await harness.listed('x');
    void harness.list();
    await advanceTime(SESSION_LISTING_WAIT_MS);
    await harness.listed('x');
    expect(harness.changes).toEqual([]);
    await harness.listed('x', 'y');
    expect(harness.changes).toEqual([['one', ['tools']]]);
    expect(harness.toolsOf(new FakeClient('two'))).toEqual(['x']);
  });

  it('keeps no variant for a listing that equals the shared one', async () => {
    await harness.listed('x');
    expect(harness.registry.variants.size).toBe(0);
    expect(harness.listings.has('one', 'a', 'tools')).toBe(true);
    expect(harness.listings.has('one', 'a', 'prompts')).toBe(false);
  });

  it('keeps the list of the session when the shared one changes', async () => {
    await harness.listed('x');
    await harness.putShared(listingOf('x', 'new'));
    expect(harness.toolsOf()).toEqual(['x']);
    await harness.listed('x', 'new');
    expect(harness.toolsOf()).toEqual(['new', 'x']);
    expect(harness.registry.variants.size).toBe(0);
  });

  it('uses the shared list for a kind that the session has not listed', async () => {
    await harness.putShared({ ...listingOf('x'), prompts: [definition('p')] });
    await harness.listed('y');
    const { prompts } = harness.registry.catalogOfOwner('one');
    expect(prompts.view(EVERYTHING).find('a__p')).toBeDefined();
  });

  it('forgets everything of a closed session and of a removed server', async () => {
    await harness.listed('y');
    harness.listings.remove(harness.backend.asBackend);
    await flushPromises();
    expect([harness.toolsOf(), harness.registry.variants.size]).toEqual([['x'], 0]);
    harness.listings.add(harness.backend.asBackend);
    await harness.listed('y');
    harness.client.close();
    await flushPromises();
    expect(harness.registry.variants.size).toBe(0);
    await harness.listed('z');
    expect(harness.registry.variants.size).toBe(0);
  });

  it('counts a session that gets the shared listing because there are too many variants', async () => {
    harness.registry.variants.assign = () => Promise.resolve(false);
    await harness.listed('y');
    expect(harness.refused).toBe(1);
    expect(harness.toolsOf()).toEqual(['x']);
  });
});
