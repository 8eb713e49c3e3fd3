import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { flushPromises } from '../../test/kit/promises.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { only } from '../../test/kit/offers.js';
import { SubscriptionHarness, type HarnessOptions } from '../../test/kit/subscription-harness.js';
import { notificationFrame } from '../mcp/event-frame.js';

const A = 'file:///a';
const PUBLIC_A = 'resource://files/file:///a';

describe('ResourceUpdates', () => {
  let files: FakeServer;
  let git: FakeServer;
  let harness: SubscriptionHarness;
  let client: FakeSubscriber;

  async function open(options: HarnessOptions = {}): Promise<void> {
    files = new FakeServer([A, 'file:///b', 'file:///dir']);
    git = new FakeServer([A]);
    harness = await SubscriptionHarness.open({ files, git }, options);
    client = new FakeSubscriber('a');
  }
  beforeEach(async () => {
    recordLog();
    await open();
  });

  const events = async (outcome: string): Promise<number | undefined> =>
    (await harness.scrape()).value('mcp_subscription_events_total', { outcome });

  it('deliver an update to exactly its subscribers', async () => {
    const [b, c, d] = ['b', 'c', 'd'].map((id) => new FakeSubscriber(id)) as [
      FakeSubscriber,
      FakeSubscriber,
      FakeSubscriber,
    ];
    await harness.subscribe(client, PUBLIC_A);
    await harness.subscribe(b, PUBLIC_A);
    await harness.subscribe(c, 'file:///b');
    await harness.subscribe(d, 'resource://git/file:///a');
    files.update(A);
    expect([client, b, c, d].map(({ uris }) => uris)).toEqual([[PUBLIC_A], [PUBLIC_A], [], []]);
    expect(await events('delivered')).toBe(1);
  });

  it('deliver a large fan-out in slices, once to each client and in order with other events', async () => {
    const many = Array.from({ length: 1200 }, (_, n) => new FakeSubscriber(`c${n}`));
    for (const one of many) harness.subscribers.add(one, { server: 'files', uri: A });
    files.update(A, { n: 1 });
    const last = many.at(-1)!;
    expect([many[0]!.updates, last.updates]).toEqual([[{ uri: PUBLIC_A, n: 1 }], []]);
    last.deliver(notificationFrame('something else', '_other'), {});
    // Update 2 waits until update 1 is delivered, and is replaced by update 3.
    for (const n of [2, 3]) files.update(A, { n });
    for (let turn = 0; turn < 8; turn++) await flushPromises();
    for (const one of many)
      expect(one.updates.filter(({ uri }) => uri)).toEqual([1, 3].map((n) => ({ uri: PUBLIC_A, n })));
    const numbers = last.delivered.map(({ frame }) => frame.sequence);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect([await events('delivered'), await events('coalesced')]).toEqual([2, 1]);
  });

  it('replace the URI by the public one and pass on every other byte', async () => {
    await harness.subscribe(client, PUBLIC_A);
    files.update(
      A,
      {},
      '{ "version": 1.0, "uri" : "file:///a" ,"_meta":{"n":12345678901234567890,"ü":"\\u00fc"}}',
    );
    expect(client.texts).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":' +
        `{ "version": 1.0, "uri" : "${PUBLIC_A}" ,"_meta":{"n":12345678901234567890,"ü":"\\u00fc"}}}`,
    ]);
  });

  it.each([
    ['underscore', 'files_file___b'],
    ['original', 'file:///b'],
    ['resource', 'resource://files/file:///b'],
  ] as const)('use the public URI of the listing in style %s', async (style, name) => {
    await open({ naming: { resources: style } });
    await harness.subscribe(client, 'resource://files/file:///b');
    files.update('file:///b');
    expect(client.uris).toEqual([name]);
  });

  it('encode an update once for all clients', async () => {
    const encode = jest.spyOn(Buffer, 'from');
    const clients = Array.from({ length: 50 }, (_, i) => new FakeSubscriber(`${i}`));
    for (const one of clients) await harness.subscribe(one, PUBLIC_A);
    encode.mockClear();
    files.update(A);
    const written = new Set(clients.map(({ delivered }) => delivered[0]!.frame.bytes));
    expect(encode).toHaveBeenCalledTimes(1);
    encode.mockRestore();
    expect(written.size).toBe(1);
  });

  it('coalesce updates of the same resource of the same server', async () => {
    await harness.subscribe(client, 'resource://files/file:///*');
    for (const uri of [A, 'file:///b', A]) files.update(uri);
    const options = client.delivered.map((delivery) => delivery.options);
    for (const {
      frame,
      options: { droppable },
    } of client.delivered)
      expect([frame.kind, droppable]).toEqual(['resources/updated', undefined]);
    const [first, second, third] = options.map(({ coalesce }) => coalesce);
    expect(first).toBe(third);
    expect(first).not.toBe(second);
    await harness.subscribe(client, 'resource://git/file:///a');
    git.update(A);
    expect(client.delivered.at(-1)!.options.coalesce).not.toBe(first);
  });

  it('deliver an update once to a client with several subscriptions that cover it', async () => {
    for (const uri of [PUBLIC_A, 'resource://files/file:///*', 'resource://files/*'])
      await harness.subscribe(client, uri);
    files.update(A);
    expect(client.uris).toEqual([PUBLIC_A]);
  });

  it('deliver an update of a part to subscribers of the containing resource', async () => {
    await harness.subscribe(client, 'resource://files/file:///dir');
    for (const uri of ['file:///dir/x', 'file:///dir#y', 'file:///dirt', 'file:///di']) files.update(uri);
    expect(client.uris).toEqual(['resource://files/file:///dir/x', 'resource://files/file:///dir#y']);
  });

  it('drop and count an update without subscribers', async () => {
    await harness.subscribe(client, PUBLIC_A);
    files.update('file:///b');
    git.update(A);
    expect(client.delivered).toEqual([]);
    expect([await events('unheard'), await events('delivered')]).toEqual([2, 0]);
  });

  it.each<[string, object]>([
    ['no URI', {}],
    ['a URI that is not a string', { uri: 7 }],
  ])('ignore an update with %s', async (_what, params) => {
    await harness.subscribe(client, 'resource://files/*');
    files.link.emit('notifications/resources/updated', params);
    files.link.emit('notifications/resources/updated', params, { paramsText: undefined });
    files.link.emit('notifications/something/else', { uri: A });
    expect(client.delivered).toEqual([]);
    expect([await events('unheard'), await events('delivered')]).toEqual([0, 0]);
  });

  describe('for a client without a stream', () => {
    beforeEach(async () => {
      client.isReading = false;
      await harness.subscribe(client, PUBLIC_A);
    });

    it.each<[string, () => unknown]>([
      ['unsubscribes', () => harness.unsubscribe(client, PUBLIC_A)],
      ['loses access to the server', () => client.setScope(only('git'))],
      ['loses its subscription with a removed server', () => harness.remove('files')],
    ])('withdraw a queued update when the client %s', async (_what, act) => {
      await harness.subscribe(client, 'resource://git/file:///a');
      for (const server of [files, git]) server.update(A);
      files.update(`${A}/part`);
      await act();
      expect(client.uris).toEqual(['resource://git/file:///a']);
    });

    it('keep a queued update that another subscription of the client covers', async () => {
      await harness.subscribe(client, 'resource://files/file:///*');
      files.update(A);
      harness.unsubscribe(client, PUBLIC_A);
      expect(client.uris).toEqual([PUBLIC_A]);
      harness.unsubscribe(client, 'resource://files/file:///*');
      expect(client.uris).toEqual([]);
    });
  });

  it('deliver nothing of a server that left the scope of the client before its subscription is removed', async () => {
    await harness.subscribe(client, PUBLIC_A);
    client.scopeListeners.clear();
    client.setScope(only('git'));
    files.update(A);
    expect(client.delivered).toEqual([]);
  });

  it('deliver an update from a server that does not support subscriptions', async () => {
    const plain = new FakeServer([A], false);
    harness = await SubscriptionHarness.open({ plain });
    await harness.subscribe(client, A);
    plain.update(A, { version: 2 });
    expect(client.updates).toEqual([{ uri: 'resource://plain/file:///a', version: 2 }]);
    expect(plain.subscriptionRequests).toEqual([]);
  });

  describe('with watch.coalesceMs', () => {
    beforeEach(async () => {
      await open({ entries: { files: { watch: { coalesceMs: 200 } } } });
      await harness.subscribe(client, 'resource://files/*');
    });

    it('deliver the latest of several updates when the window ends', async () => {
      for (const version of [1, 2, 3]) files.update(A, { version });
      files.update('file:///b', { version: 1 });
      expect(client.updates.map(({ version }) => version)).toEqual([1, 1]);
      await harness.pass(200);
      expect(client.updates.at(-1)).toEqual({ uri: PUBLIC_A, version: 3 });
      expect(client.updates).toHaveLength(3);
      expect([await events('delivered'), await events('coalesced')]).toEqual([3, 1]);
    });

    it('deliver updates of another server at once', async () => {
      await harness.subscribe(client, 'resource://git/file:///a');
      for (const version of [1, 2]) git.update(A, { version });
      expect(client.updates).toHaveLength(2);
    });

    it('deliver a throttled update to the clients that are subscribed at the end of the window', async () => {
      for (const version of [1, 2]) files.update(A, { version });
      const late = new FakeSubscriber('b');
      await harness.subscribe(late, PUBLIC_A);
      client.close();
      await harness.pass(200);
      expect(client.updates).toHaveLength(1);
      expect(late.updates).toEqual([{ uri: PUBLIC_A, version: 2 }]);
    });

    it('drop a throttled update when the resource is reported as deleted', async () => {
      await open({ entries: { files: { watch: { coalesceMs: 2000 } } } });
      await harness.subscribe(client, PUBLIC_A);
      for (const version of [1, 2]) files.update(A, { version });
      await harness.list(files, 'file:///b');
      await harness.pass(2000);
      expect(client.updates).toEqual([
        { uri: PUBLIC_A, version: 1 },
        { uri: PUBLIC_A, _meta: { 'io.gatehouse/state': 'deleted' } },
      ]);
      expect(await events('coalesced')).toBe(1);
    });
  });
});
