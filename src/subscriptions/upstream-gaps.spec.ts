import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { outcomeOf, flushPromises } from '../../test/kit/promises.js';
import { FakeServer, manyUris, uriOf } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { LINGER_MS, SubscriptionHarness, type HarnessOptions } from '../../test/kit/subscription-harness.js';
import { deferred } from '../../test/kit/until.js';
import { TransportError } from '../backends/link/transport.js';

describe('UpstreamSubscriptions', () => {
  let server: FakeServer;
  let harness: SubscriptionHarness;
  let client: FakeSubscriber;

  async function open(given: FakeServer, options: HarnessOptions = {}): Promise<void> {
    server = given;
    harness = await SubscriptionHarness.open({ s: server }, options);
    client = new FakeSubscriber('a');
  }
  beforeEach(async () => {
    recordLog();
    jest.spyOn(Math, 'random').mockReturnValue(1);
    await open(new FakeServer(['x://a', 'x://b']));
  });

  describe('after a gap in the notification stream', () => {
    it('subscribe everything again, eight at once, and send each subscriber one update', async () => {
      await open(new FakeServer(manyUris(20)));
      const other = new FakeSubscriber('b');
      for (const uri of server.resources) await harness.subscribe(client, uri);
      await harness.subscribe(other, uriOf(0));
      server.held.clear();
      server.replyToSubscribe = () => 'waits';
      server.link.emitGap();
      await harness.pass(0);
      expect(server.link.inFlight.size).toBe(8);
      for (let n = 0; n < 20; n++) {
        const [{ params = '' } = {}] = server.link.inFlight;
        server.accept((JSON.parse(params) as { uri: string }).uri);
        await flushPromises();
      }
      expect([...server.held].toSorted()).toEqual(server.resources);
      expect(client.uris.toSorted()).toEqual(server.resources.map((uri) => `resource://s/${uri}`));
      expect(other.uris).toEqual([`resource://s/${uriOf(0)}`]);
      expect(server.links).toHaveLength(1);
    });

    it('send no further update of a resource that the server updates meanwhile', async () => {
      for (const uri of ['x://a', 'x://b']) await harness.subscribe(client, uri);
      server.link.emitGap();
      server.update('x://a', { version: 2 });
      await harness.pass(0);
      expect(client.updates).toEqual([
        { uri: 'resource://s/x://a', version: 2 },
        { uri: 'resource://s/x://b' },
      ]);
    });

    it('send an update to a client that is being subscribed, after the acknowledgement', async () => {
      server.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(harness.subscribe(client, 'x://a'));
      await flushPromises();
      server.link.emitGap();
      server.accept('x://a');
      await harness.pass(0);
      expect(outcome).toHaveProperty('value');
      expect(client.uris).toEqual(['resource://s/x://a']);
      expect(server.subscriptionRequests).toEqual(['+x://a']);
    });

    it('do not subscribe URIs without subscribers again', async () => {
      await harness.subscribe(client, 'x://a');
      harness.unsubscribe(client, 'x://a');
      server.link.emitGap();
      await harness.pass(LINGER_MS);
      expect(server.subscriptionRequests).toEqual(['+x://a', '-x://a']);
    });

    it('send an update to subscribers of a server that does not support subscriptions', async () => {
      await open(new FakeServer(['x://a'], false));
      await harness.subscribe(client, 'x://a');
      server.link.emitGap();
      await harness.pass(0);
      expect(client.uris).toEqual(['resource://s/x://a']);
    });

    it('continue polling without an update', async () => {
      await open(new FakeServer(['x://a'], false), { entries: { s: { watch: { pollMs: 1000 } } } });
      await harness.subscribe(client, 'x://a');
      server.link.emitGap();
      await harness.pass(500);
      expect([server.readsOf('x://a'), client.uris]).toEqual([1, []]);
    });
  });

  it('wait for the notification stream before the subscribe request', async () => {
    const ready = deferred();
    server.link.notificationsReady = ready.promise;
    const outcome = outcomeOf(harness.subscribe(client, 'x://a'));
    await harness.pass(500);
    expect(server.subscriptionRequests).toEqual([]);
    ready.resolve();
    await harness.pass(0);
    expect([server.subscriptionRequests, outcome]).toMatchObject([['+x://a'], { value: { uri: 'x://a' } }]);
  });

  describe('when the session with the server expires', () => {
    const EXPIRED = new TransportError('session-expired', 'unknown session');

    it('repeat the request on the next link', async () => {
      server.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(harness.subscribe(client, 'x://a'));
      await flushPromises();
      server.replyToSubscribe = () => 'takes';
      server.link.disconnect(EXPIRED);
      await harness.pass(0);
      expect(server.links).toHaveLength(2);
      expect(outcome).toMatchObject({ value: { uri: 'x://a' } });
      expect([...server.held]).toEqual(['x://a']);
    });

    it('fail and keep no row when the link is lost for another reason', async () => {
      server.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(harness.subscribe(client, 'x://a'));
      await flushPromises();
      server.isReachable = false;
      server.link.disconnect();
      await harness.pass(0);
      expect(outcome.error).toMatchObject({ kind: 'server-unavailable' });
      expect(harness.subscribers.table.size).toBe(0);
    });
  });

  it('fail a request that waits for a worker longer than the timeout of a call', async () => {
    await open(new FakeServer(manyUris(9)));
    server.replyToSubscribe = () => 'waits';
    const outcomes = server.resources.map((uri) => outcomeOf(harness.subscribe(client, uri)));
    await harness.pass(0);
    expect(server.link.inFlight.size).toBe(8);
    await harness.pass(1000);
    expect(outcomes[8]!.error).toMatchObject({ kind: 'timeout' });
    expect(harness.subscribers.table.size).toBe(0);
  });

  it('send no update of a deleted resource over a new link', async () => {
    await harness.subscribe(client, 'x://a');
    await harness.list(server, 'x://b');
    await harness.reconnect(server);
    server.link.emitGap();
    await harness.pass(1000);
    expect(client.updates).toEqual([
      { uri: 'resource://s/x://a', _meta: { 'io.gatehouse/state': 'deleted' } },
    ]);
  });

  it('send no update of a resource that the server does not list on a new link', async () => {
    await harness.subscribe(client, 'x://a');
    server.replyToSubscribe = () => 'waits';
    server.resources = ['x://b'];
    await harness.reconnect(server);
    server.accept('x://a');
    await harness.pass(1000);
    expect(client.updates).toEqual([
      { uri: 'resource://s/x://a', _meta: { 'io.gatehouse/state': 'deleted' } },
    ]);
  });

  it('send an update to earlier subscribers when a refused URI is confirmed for another client', async () => {
    const other = new FakeSubscriber('b');
    await harness.subscribe(client, 'x://a');
    server.replyToSubscribe = () => 'refuses';
    await harness.reconnect(server);
    expect(client.updates).toEqual([]);
    server.replyToSubscribe = () => 'takes';
    await harness.subscribe(other, 'x://a');
    expect(client.updates).toEqual([{ uri: 'resource://s/x://a' }]);
    await harness.pass(60_000);
    expect(client.updates).toHaveLength(1);
  });

  it('drop the state of a refused URI without subscribers', async () => {
    await harness.subscribe(client, 'x://a');
    server.replyToSubscribe = () => 'refuses';
    await harness.reconnect(server);
    harness.unsubscribe(client, 'x://a');
    server.replyToSubscribe = () => 'takes';
    await harness.subscribe(client, 'x://a');
    expect(client.updates).toEqual([]);
  });

  it('retry with short delays again after a success', async () => {
    for (const uri of ['x://a', 'x://b']) await harness.subscribe(client, uri);
    server.replyToSubscribe = () => 'refuses';
    await harness.reconnect(server);
    await harness.pass(5000);
    await harness.pass(10_000);
    server.replyToSubscribe = () => 'takes';
    await harness.pass(20_000);
    expect([...server.held].toSorted()).toEqual(['x://a', 'x://b']);
    server.held.clear();
    server.replyToSubscribe = (uri) => (uri === 'x://a' ? 'refuses' : 'takes');
    server.link.emitGap();
    await harness.pass(0);
    server.replyToSubscribe = () => 'takes';
    await harness.pass(5000);
    expect([...server.held].toSorted()).toEqual(['x://a', 'x://b']);
  });
});
