import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeLink, settled, type Answers } from '../../../test/kit/fake-link.js';
import type { Listing } from '../../core/catalog/catalog.js';
import { RemoteError } from '../../core/errors.js';
import { Sync } from './sync.js';

const RESOURCES = { capabilities: { resources: {} } };
const RESOURCES_CHANGED = 'notifications/resources/list_changed';

class Synced {
  readonly listings: Listing[] = [];
  readonly sync = new Sync('db', async (listing) => void this.listings.push(listing));

  /** The URIs and templates that were published last. */
  get listed(): string {
    const { resources, templates } = this.listings.at(-1)!;
    const uris = resources.byUri.map(({ uri }) => uri);
    return `${uris.join()}/${templates.map(({ uriTemplate }) => uriTemplate).join()}`;
  }

  async attach(answers: Answers, facts: object = RESOURCES): Promise<FakeLink> {
    const link = new FakeLink(answers, facts);
    this.sync.attach(link);
    await settled();
    return link;
  }
}

const offering = (uris: () => readonly string[], templates: () => readonly string[]): Answers => ({
  'resources/list': () => ({ resources: uris().map((uri) => ({ uri, name: uri })) }),
  'resources/templates/list': () => ({
    resourceTemplates: templates().map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
  }),
});

async function pass(ms: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms);
  await settled();
}

let warnings: jest.SpiedFunction<Logger['warn']>;
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  warnings = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe('a sync of resources', () => {
  it('fetches every page of both lists', async () => {
    const synced = new Synced();
    const link = await synced.attach({
      'resources/list': ({ params }) =>
        params === undefined
          ? { resources: [{ uri: 'x:1' }], nextCursor: 'c' }
          : { resources: [{ uri: 'x:2' }] },
      'resources/templates/list': ({ params }) =>
        params === undefined
          ? { resourceTemplates: [{ uriTemplate: 'b:{x}' }], nextCursor: 'c' }
          : { resourceTemplates: [{ uriTemplate: 'a:{x}' }] },
    });
    await settled();
    expect(synced.listed).toBe('x:1,x:2/a:{x},b:{x}');
    expect([link.count('resources/list'), link.count('resources/templates/list')]).toEqual([2, 2]);
  });

  it('asks for neither where the server has no resources, and forgets those it had', async () => {
    const synced = new Synced();
    await synced.attach(
      offering(
        () => ['x:1'],
        () => ['x:{y}'],
      ),
    );
    const link = await synced.attach({}, { capabilities: {} });
    expect(synced.listed).toBe('/');
    expect(link.requests).toEqual([]);
    const { templates } = synced.listings.at(-1)!;
    await synced.attach({}, { capabilities: {} });
    expect(synced.listings.at(-1)!.templates).toBe(templates);
  });

  it('fetches both again when the server says that the resources have changed', async () => {
    const synced = new Synced();
    let version = 1;
    const link = await synced.attach(
      offering(
        () => [`x:${version}`],
        () => [`y:${version}/{z}`],
      ),
    );
    version = 2;
    expect(synced.sync.takeNotice(RESOURCES_CHANGED)).toBe(true);
    await pass(2000);
    expect(synced.listed).toBe('x:2/y:2/{z}');
    expect([link.count('resources/list'), link.count('resources/templates/list')]).toEqual([2, 2]);
  });

  it('keeps the very same lists when they come again, in whatever order', async () => {
    const synced = new Synced();
    let [uris, templates] = [
      ['x:1', 'x:2'],
      ['x:{y}', 'y:{y}'],
    ];
    await synced.attach(
      offering(
        () => uris,
        () => templates,
      ),
    );
    const before = synced.listings.at(-1)!;
    [uris, templates] = [uris.toReversed(), templates.toReversed()];
    synced.sync.takeNotice(RESOURCES_CHANGED);
    await pass(2000);
    const after = synced.listings.at(-1)!;
    expect(after).not.toBe(before);
    expect(after.resources).toBe(before.resources);
    expect(after.templates).toBe(before.templates);
  });

  it('leaves a hostile template out, warns of it once, and keeps the rest of the list', async () => {
    const synced = new Synced();
    const hostile = Array.from({ length: 300 }, (_, n) => `x:${n}${'{a}'.repeat(2000)}`);
    await synced.attach(
      offering(
        () => ['x:1'],
        () => ['a:{b}', ...hostile, '{{b}}', 'c:{d}'],
      ),
    );
    expect(synced.listed).toBe('x:1/a:{b},c:{d}');
    expect(warnings).toHaveBeenCalledTimes(1);
    const entry = warnings.mock.calls[0]![0] as { uriTemplates: string[] };
    expect(entry).toMatchObject({ server: 'db', count: 301 });
    expect(JSON.stringify(entry).length).toBeLessThan(2000);
  });

  it('warns of what is the matter with a list when that changes, not whenever it is fetched', async () => {
    const synced = new Synced();
    let odd: object[] = [{ uri: 'x:1' }, { name: 'nobody' }];
    await synced.attach({
      'resources/list': () => ({ resources: odd }),
      'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: '{{', name: 'n' }] }),
    });
    synced.sync.takeNotice(RESOURCES_CHANGED);
    await pass(2000);
    odd = [{ uri: 'x:1', name: 'one', size: 'large' }];
    synced.sync.takeNotice(RESOURCES_CHANGED);
    await pass(2000);
    const said = warnings.mock.calls.map(([entry]) => entry as Record<string, unknown>);
    const message = 'resources/list: some are not what clients accept';
    expect(said.filter(({ count }) => count !== undefined)).toHaveLength(3);
    expect(said.filter((entry) => entry['message'] === message)).toEqual([
      { message, server: 'db', count: 2, leftOut: 1, repaired: 1 },
      { message, server: 'db', count: 1, leftOut: 0, repaired: 1 },
    ]);
  });

  it('keeps the lists as last known when they are cut short, or do not come', async () => {
    const synced = new Synced();
    const whole = offering(
      () => ['x:1'],
      () => ['x:{y}'],
    );
    await synced.attach(whole);
    await synced.attach({
      'resources/list': () => ({ resources: [{ uri: 'part:1', name: 'part' }], nextCursor: 'again' }),
      'resources/templates/list': () => new Error('busy'),
    });
    await pass(2000);
    expect(synced.listed).toBe('x:1/x:{y}');
    expect(warnings.mock.calls.map(([entry]) => (entry as { message: string }).message).toSorted()).toEqual([
      'resources/list was cut short',
      'resources/templates/list failed',
    ]);
  });

  it('takes a part of the list where nothing was known before', async () => {
    const synced = new Synced();
    await synced.attach({
      'resources/list': () => ({ resources: [{ uri: 'part:1', name: 'part' }], nextCursor: 'again' }),
      'resources/templates/list': () => ({
        resourceTemplates: [{ uriTemplate: 'part:{x}' }],
        nextCursor: 'again',
      }),
    });
    expect(synced.listed).toBe('part:1/part:{x}');
  });

  it('takes a server that does not know the method for one that has none, and does not ask again', async () => {
    const synced = new Synced();
    const link = await synced.attach({
      ...offering(
        () => ['x:1'],
        () => [],
      ),
      'resources/templates/list': () => new RemoteError(-32601, 'Method not found', '{}'),
    });
    await pass(60_000);
    expect(synced.listed).toBe('x:1/');
    expect(link.count('resources/templates/list')).toBe(1);
    expect(warnings).not.toHaveBeenCalled();
  });

  it('warns of how many have no usable URI', async () => {
    const synced = new Synced();
    await synced.attach({
      'resources/templates/list': () => ({}),
      'resources/list': () => ({ resources: [{}, { uri: 'x:1' }, 7] }),
    });
    expect(warnings.mock.calls).toEqual([[expect.objectContaining({ server: 'db', leftOut: 2 })]]);
  });

  it('drops a list that is ready only after its link was replaced', async () => {
    const synced = new Synced();
    const stale = await synced.attach({});
    await synced.attach(
      offering(
        () => ['new:1'],
        () => [],
      ),
    );
    stale.asked('resources/list').answer({ resources: [{ uri: 'stale:1' }] });
    stale.lose();
    await pass(2000);
    expect(synced.listed).toBe('new:1/');
  });
});
