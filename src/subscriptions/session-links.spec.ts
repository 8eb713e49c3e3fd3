import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeClient, FakeSubscriber } from '../../test/kit/fake-client.js';
import type { FakeLink } from '../../test/kit/fake-link.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { Waiter } from '../core/subscriptions/uri-state.js';
import { LINGER_MS, SubscriptionHarness } from '../../test/kit/subscription-harness.js';

const A = 'resource://s/x://a';
const UPDATED = 'notifications/resources/updated';

/** The subscribe and unsubscribe requests on one link. */
const requestsOn = ({ requests }: FakeLink): string[] =>
  requests.flatMap(({ method, params = '{}' }) => {
    const sign = { 'resources/subscribe': '+', 'resources/unsubscribe': '-' }[method];
    return sign === undefined ? [] : [`${sign}${(JSON.parse(params) as { uri: string }).uri}`];
  });

describe('UpstreamSubscriptions with isolation: session', () => {
  let server: FakeServer;
  let harness: SubscriptionHarness;
  let [ann, ben] = [new FakeSubscriber('ann'), new FakeSubscriber('ben')];

  async function open(given = new FakeServer(['x://a', 'x://b']), entry: object = {}): Promise<void> {
    server = given;
    harness = await SubscriptionHarness.open(
      { s: server },
      { entries: { s: { isolation: 'session', ...entry } } },
    );
    [ann, ben] = [new FakeSubscriber('ann'), new FakeSubscriber('ben')];
  }
  beforeEach(() => {
    recordLog();
    jest.spyOn(Math, 'random').mockReturnValue(1);
    return open();
  });

  /** Changes the listing, which is synced over the shared link. */
  async function list(...resources: string[]): Promise<void> {
    server.resources = resources;
    server.links[0]!.emit('notifications/resources/list_changed');
    await harness.pass(1500);
  }

  it('subscribe over the link of each session, and not over the shared one', async () => {
    await harness.subscribe(ann, A);
    await harness.subscribe(ben, A);
    await harness.subscribe(ben, 'x://b');
    const [shared, ofAnn, ofBen] = server.links as [FakeLink, FakeLink, FakeLink];
    expect([shared, ofAnn, ofBen].map(requestsOn)).toEqual([[], ['+x://a'], ['+x://a', '+x://b']]);
    expect([ann.updates, ben.updates]).toEqual([[], []]);
    expect(await harness.upstream()).toBe(3);
    harness.unsubscribe(ben, A);
    await harness.pass(LINGER_MS);
    expect([ofAnn, ofBen].map(requestsOn)).toEqual([['+x://a'], ['+x://a', '+x://b', '-x://a']]);
  });

  it('deliver an update only to the subscribed session whose link it came on', async () => {
    await harness.subscribe(ann, A);
    await harness.subscribe(ben, A);
    const [shared, ofAnn, ofBen] = server.links as [FakeLink, FakeLink, FakeLink];
    ofAnn.emit(UPDATED, { uri: 'x://a', n: 1 });
    ofBen.emit(UPDATED, { uri: 'x://b', n: 2 });
    shared.emit(UPDATED, { uri: 'x://a', n: 3 });
    expect(ann.updates).toEqual([{ uri: A, n: 1 }]);
    expect(ben.updates).toEqual([]);
  });

  it('subscribe to each match of a pattern, and follow the listing', async () => {
    await harness.subscribe(ann, 'resource://s/x://*');
    await list('x://a', 'x://b', 'x://c');
    expect(requestsOn(server.links[1]!)).toEqual(['+x://a', '+x://b', '+x://c']);
    await list('x://a');
    await harness.pass(LINGER_MS);
    expect(requestsOn(server.links[1]!).slice(3).toSorted()).toEqual(['-x://b', '-x://c']);
    expect(ann.uris).toEqual(['x://c', 'x://b', 'x://c'].map((uri) => `resource://s/${uri}`));
  });

  it('reopen a lost link for a session with subscriptions, and send one update', async () => {
    await harness.subscribe(ann, A);
    await harness.subscribe(ben, A);
    server.links[1]!.disconnect();
    await harness.pass(500);
    expect(server.links).toHaveLength(4);
    expect(requestsOn(server.links[3]!)).toEqual(['+x://a']);
    expect([ann.uris, ben.uris]).toEqual([[A], []]);
    server.links[3]!.disconnect();
    harness.unsubscribe(ann, A);
    await harness.pass(60_000);
    expect(server.links).toHaveLength(4);
  });

  it('reopen the lost link of one session although another session closes', async () => {
    await harness.subscribe(ann, A);
    await harness.subscribe(ben, A);
    await harness.pass(20_000);
    server.links[1]!.disconnect();
    await harness.pass(0);
    ben.close();
    await harness.pass(60_000);
    expect(server.links.map(requestsOn)).toEqual([[], ['+x://a'], ['+x://a'], ['+x://a']]);
    expect(ann.uris).toEqual([A]);
  });

  it('reopen the lost link of a session whose next subscription fails', async () => {
    await open(new FakeServer(['x://a', 'x://a/1']));
    await harness.subscribe(ann, A);
    const connected = new Waiter();
    jest.spyOn(server, 'connect').mockImplementationOnce(() => connected.promise.then(() => server.link));
    server.links[1]!.disconnect();
    await harness.pass(0);
    const failing = harness.subscribe(ann, 'x://a/1').catch(String);
    await harness.pass(500);
    connected.reject(new Error('no route'));
    expect(await failing).toContain('SERVER_UNAVAILABLE');
    await harness.pass(60_000);
    expect(server.links.map(requestsOn)).toEqual([[], ['+x://a'], ['+x://a']]);
  });

  it('subscribe again after a gap on one link, for its session only', async () => {
    await harness.subscribe(ann, A);
    await harness.subscribe(ben, A);
    server.links[2]!.emitGap();
    await harness.pass(0);
    expect(server.links.map(requestsOn)).toEqual([[], ['+x://a'], ['+x://a', '+x://a']]);
    expect([ann.uris, ben.uris]).toEqual([[], [A]]);
  });

  it('deliver updates and handle gaps on each link of a server that does not support subscriptions', async () => {
    await open(new FakeServer(['x://a'], false));
    await harness.subscribe(ann, A);
    await harness.subscribe(ben, A);
    server.links[1]!.emit(UPDATED, { uri: 'x://a', n: 1 });
    server.links[2]!.emitGap();
    await harness.pass(0);
    expect([ann.updates, ben.updates]).toEqual([[{ uri: A, n: 1 }], [{ uri: A }]]);
    server.links[1]!.disconnect();
    await harness.pass(500);
    expect([ann.updates.length, ben.updates.length]).toEqual([2, 1]);
    expect(server.subscriptionRequests).toEqual([]);
  });

  it('subscribe to resources that are listed later and match a pattern without earlier matches', async () => {
    const files = new FakeServer(['x://a', 'y://b']);
    files.templates = ['z://{id}'];
    await open(files);
    await harness.subscribe(ann, 'resource://s/z://{id}');
    await harness.pass(0);
    await list('x://a', 'z://1');
    expect(requestsOn(server.links[1]!)).toEqual(['+z://1']);
    expect(ann.uris).toEqual(['resource://s/z://1']);
  });

  it('close the link of a client that closes its session', async () => {
    await harness.subscribe(ann, A);
    ann.close();
    await harness.pass(60_000);
    expect(server.links).toHaveLength(2);
    expect(server.links[1]!.closes).toBeGreaterThan(0);
    expect(await harness.upstream()).toBe(0);
    expect(ann.hasNoListeners).toBe(true);
  });

  it('open a link for a restored subscription', async () => {
    harness.restore(ann, 's', 'x://a');
    await harness.pass(0);
    expect(server.links.map(requestsOn)).toEqual([[], ['+x://a']]);
    expect(ann.uris).toEqual([A]);
  });

  it('poll over the link of each session', async () => {
    await open(new FakeServer(['x://a'], false), { watch: { pollMs: 1000 } });
    await harness.subscribe(ann, A);
    await harness.subscribe(ben, A);
    expect(server.links.map((link) => link.count('resources/read'))).toEqual([0, 1, 1]);
    server.reads = () => 'other words';
    await harness.pass(1200);
    expect([ann.uris, ben.uris]).toEqual([[A], [A]]);
    await harness.reload({ s: { isolation: 'session', watch: { pollMs: 100 } } });
    expect(server.links).toHaveLength(3);
    const before = server.readsOf('x://a');
    await harness.pass(120);
    expect(server.readsOf('x://a')).toBe(before + 2);
  });

  describe('for listen streams that have an owner in common', () => {
    let owner: FakeClient;
    let streams: FakeSubscriber[];

    beforeEach(async () => {
      owner = new FakeClient('owner');
      streams = ['one', 'two'].map((id) => FakeSubscriber.listen(id, undefined, owner));
      for (const stream of streams) await harness.subscribe(stream, A);
      await harness.subscribe(streams[1]!, 'x://b');
      await harness.subscribe(ann, A);
    });

    it('subscribe over one link, until the last of them has ended', async () => {
      expect(server.links.map(requestsOn)).toEqual([[], ['+x://a', '+x://b'], ['+x://a']]);
      streams[1]!.close();
      await harness.pass(LINGER_MS);
      expect(requestsOn(server.links[1]!)).toEqual(['+x://a', '+x://b', '-x://b']);
      streams[0]!.close();
      await harness.pass(LINGER_MS);
      expect(requestsOn(server.links[1]!).at(-1)).toBe('-x://a');
      expect([...harness.subscribers.owned.subscribersOf('owner')]).toEqual(['owner']);
      expect(requestsOn(server.links[2]!)).toEqual(['+x://a']);
    });

    it('deliver an update to those that are subscribed to the resource', () => {
      for (const uri of ['x://a', 'x://b']) server.links[1]!.emit(UPDATED, { uri });
      expect(streams.map(({ uris }) => uris)).toEqual([[A], [A, 'resource://s/x://b']]);
      expect(ann.uris).toEqual([]);
    });

    it('reopen a lost link, and send each one update', async () => {
      server.links[1]!.disconnect();
      await harness.pass(500);
      expect(server.links.map(requestsOn)).toEqual([
        [],
        ['+x://a', '+x://b'],
        ['+x://a'],
        ['+x://a', '+x://b'],
      ]);
      expect(streams.map(({ uris }) => uris)).toEqual([[A], [A, 'resource://s/x://b']]);
      expect(ann.uris).toEqual([]);
    });

    it('open the link when the server is enabled again', async () => {
      await harness.enable('s', false);
      await harness.pass(60_000);
      await harness.enable('s', true);
      const subscribed = server.links.slice(3).map((link) => requestsOn(link).join(' '));
      expect(subscribed.toSorted()).toEqual(['', '+x://a', '+x://a +x://b']);
    });

    it('drop throttled updates of a deleted resource', async () => {
      await open(undefined, { watch: { coalesceMs: 5000 } });
      const stream = FakeSubscriber.listen('one', undefined, owner);
      await harness.subscribe(stream, A);
      for (const n of [1, 2]) server.links[1]!.emit(UPDATED, { uri: 'x://a', n });
      await list('x://b');
      await harness.pass(5000);
      expect(stream.updates).toEqual([
        { uri: A, n: 1 },
        { uri: A, _meta: { 'io.gatehouse/state': 'deleted' } },
      ]);
    });

    it('watch the matches of a pattern while one of them is subscribed to it', async () => {
      for (const stream of streams) await harness.subscribe(stream, 'resource://s/x://*');
      await list('x://a', 'x://b', 'x://c');
      expect(requestsOn(server.links[1]!)).toEqual(['+x://a', '+x://b', '+x://c']);
      streams[1]!.close();
      await harness.pass(LINGER_MS);
      expect(requestsOn(server.links[1]!)).toHaveLength(3);
      streams[0]!.close();
      await harness.pass(LINGER_MS);
      expect(requestsOn(server.links[1]!).slice(3).toSorted()).toEqual(['-x://a', '-x://b', '-x://c']);
    });
  });

  it('report a deletion to all sessions and drop throttled updates', async () => {
    await open(undefined, { watch: { coalesceMs: 5000 } });
    await harness.subscribe(ann, A);
    for (const n of [1, 2]) server.links[1]!.emit(UPDATED, { uri: 'x://a', n });
    await list('x://b');
    await harness.pass(5000);
    expect(ann.updates).toEqual([
      { uri: A, n: 1 },
      { uri: A, _meta: { 'io.gatehouse/state': 'deleted' } },
    ]);
  });
});
