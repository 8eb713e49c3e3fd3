import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeClient } from '../../../test/kit/fake-client.js';
import { FakeLink } from '../../../test/kit/fake-link.js';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { flushPromises } from '../../../test/kit/promises.js';
import { RemoteError } from '../../core/errors.js';
import { UNFETCHED_LISTING, type Listing } from '../../core/catalog/catalog.js';
import { SESSION_LIST_LIMITS } from './list-limits.js';
import { SessionSyncs } from './session-syncs.js';

useFakeTime();

const TOOLS = { capabilities: { tools: { listChanged: true } } };
const tool = (name: string): object => ({ name, inputSchema: { type: 'object' } });

/** Syncs of the server `db` whose links list the tools that the spec sets. */
class Harness {
  tools: object[] = [tool('x')];
  shared: Listing | undefined;
  readonly listings = new Map<string, Listing>();
  truncated = 0;
  readonly syncs = new SessionSyncs(
    'db',
    {
      listed: async ({ id }, listing) => void this.listings.set(id, listing),
      truncated: () => this.truncated++,
      refreshMs: () => 60_000,
    },
    (link, request) => link.request(request),
    () => this.shared,
  );

  async attach(client: FakeClient): Promise<FakeLink> {
    const link = new FakeLink({ 'tools/list': () => ({ tools: this.tools }) }, TOOLS);
    this.syncs.attach(link, client);
    await flushPromises();
    return link;
  }
}

describe('SessionSyncs', () => {
  beforeEach(() => Logger.overrideLogger(false));

  it('keeps equal lists of several sessions in memory once', async () => {
    const harness = new Harness();
    for (const id of ['one', 'two']) await harness.attach(new FakeClient(id));
    harness.tools = [tool('y')];
    await harness.attach(new FakeClient('three'));
    const [one, two, three] = ['one', 'two', 'three'].map((id) => harness.listings.get(id)!.tools);
    expect(one!.map(({ name }) => name)).toEqual(['x']);
    expect(two).toBe(one);
    expect(three).not.toBe(one);
  });

  it('uses the list of the shared link if it is equal', async () => {
    const harness = new Harness();
    await harness.attach(new FakeClient('one'));
    const { tools } = harness.listings.get('one')!;
    harness.shared = { ...UNFETCHED_LISTING, tools: [...tools] };
    await harness.attach(new FakeClient('two'));
    expect(harness.listings.get('two')!.tools).toBe(harness.shared.tools);
  });

  it.each([
    [
      'too many definitions',
      Array.from({ length: SESSION_LIST_LIMITS.maxItems + 1 }, (_, n) => tool(`t${n}`)),
    ],
    [
      'definitions that are too long together',
      Array.from({ length: 17 }, (_, n) => ({ ...tool(`t${n}`), description: 'y'.repeat(250_000) })),
    ],
  ])('leaves out a list with %s, and counts it', async (_what, tools) => {
    const harness = new Harness();
    harness.tools = tools;
    await harness.attach(new FakeClient('one'));
    for (let n = 0; n < 50 && harness.truncated === 0; n++) await flushPromises();
    expect(harness.truncated).toBe(1);
    expect(harness.listings.get('one')?.tools ?? UNFETCHED_LISTING.tools).toBe(UNFETCHED_LISTING.tools);
  });

  it('fetches the list again after a list change over the link of the session', async () => {
    const harness = new Harness();
    const [one, two] = [new FakeClient('one'), new FakeClient('two')];
    const links = [await harness.attach(one), await harness.attach(two)];
    expect(harness.syncs.handleListChange(one, 'notifications/tools/list_changed')).toBe(true);
    expect(harness.syncs.handleListChange(one, 'notifications/message')).toBe(false);
    await advanceTime(1000);
    expect(links.map((link) => link.count('tools/list'))).toEqual([2, 1]);
  });

  it.each([-32601, -32602, -32002])(
    'fetches the list again after the error %d over a link without list changes, for that session alone',
    async (code) => {
      const harness = new Harness();
      const [one, two] = [new FakeClient('one'), new FakeClient('two')];
      const links = [await harness.attach(one), await harness.attach(two)];
      for (const link of links) link.notificationStream = 'none';
      const refuse = (): void =>
        harness.syncs.handleErrorAnswer(
          one,
          { method: 'tools/call', timeoutMs: 1 },
          new RemoteError(code, 'no', '{}'),
        );
      for (let n = 0; n < 3; n++) refuse();
      await advanceTime(1000);
      expect(links.map((link) => link.count('tools/list'))).toEqual([2, 1]);
      one.close();
      refuse();
      await advanceTime(20_000);
      expect(links[0]!.count('tools/list')).toBe(2);
    },
  );

  it('ends with the session', async () => {
    const harness = new Harness();
    const client = new FakeClient('one');
    const link = await harness.attach(client);
    client.close();
    expect(harness.syncs.handleListChange(client, 'notifications/tools/list_changed')).toBe(false);
    await advanceTime(1000);
    expect(link.count('tools/list')).toBe(1);
  });
});
