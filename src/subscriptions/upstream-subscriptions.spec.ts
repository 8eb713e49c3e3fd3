import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { outcomeOf, flushPromises } from '../../test/kit/promises.js';
import { FakeServer, manyUris, uriOf } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { LINGER_MS, SubscriptionHarness, type HarnessOptions } from '../../test/kit/subscription-harness.js';
import { GatewayError } from '../core/errors.js';

describe('UpstreamSubscriptions', () => {
  let server: FakeServer;
  let harness: SubscriptionHarness;
  let client: FakeSubscriber;
  let lines: string[];

  async function open(given: FakeServer, options: HarnessOptions = {}): Promise<void> {
    server = given;
    harness = await SubscriptionHarness.open({ s: server }, options);
    client = new FakeSubscriber('a');
  }
  beforeEach(async () => {
    lines = recordLog();
    jest.spyOn(Math, 'random').mockReturnValue(1);
    await open(new FakeServer(['x://a', 'x://b']));
  });

  it('send subscribe requests with the configured timeout', async () => {
    await harness.subscribe(client, 'x://a');
    await harness.reload({ s: { timeoutMs: 77 } });
    await harness.subscribe(client, 'x://b');
    const sent = server.link.requests.filter(({ method }) => method === 'resources/subscribe');
    expect(sent).toEqual([
      { method: 'resources/subscribe', params: '{"uri":"x://a"}', timeoutMs: 1000, deadline: 1000 },
      { method: 'resources/subscribe', params: '{"uri":"x://b"}', timeoutMs: 77, deadline: 77 },
    ]);
    expect(server.links).toHaveLength(1);
    expect(await harness.upstream()).toBe(2);
  });

  it('complete a subscribe request during which the poll interval is changed', async () => {
    await open(new FakeServer(['x://a']), { entries: { s: { watch: { pollMs: 1000 } } } });
    server.link.notificationStream = 'none';
    server.replyToSubscribe = () => 'waits';
    const outcome = outcomeOf(harness.subscriptions.subscribe(client.context, 'x://a'));
    await harness.pass(0);
    server.replyToSubscribe = () => 'takes';
    await harness.reload({ s: { watch: { pollMs: 2000 } } });
    await harness.pass(0);
    expect([outcome.error, harness.rows]).toEqual([undefined, ['a x://a']]);
    expect(outcome.value).toMatchObject({ uri: 'x://a' });
  });

  it('send nothing to a server that does not support subscriptions', async () => {
    await open(new FakeServer(['x://a'], false));
    await harness.subscribe(client, 'x://a');
    harness.unsubscribe(client, 'x://a');
    await harness.pass(LINGER_MS);
    expect(server.subscriptionRequests).toEqual([]);
    expect(await harness.upstream()).toBe(0);
  });

  describe('after a reconnect', () => {
    it('subscribe each wanted URI once and send each subscriber one update', async () => {
      const others = ['b', 'c'].map((id) => new FakeSubscriber(id));
      for (const one of [client, ...others]) await harness.subscribe(one, 'x://a');
      await harness.subscribe(client, 'x://b');
      harness.unsubscribe(client, 'x://b');
      await harness.reconnect(server);
      expect(server.link.count('resources/subscribe')).toBe(1);
      for (const one of [client, ...others]) expect(one.updates).toEqual([{ uri: 'resource://s/x://a' }]);
    });

    it('send at most eight requests at once', async () => {
      await open(new FakeServer(manyUris(50)));
      for (const uri of server.resources) await harness.subscribe(client, uri);
      server.replyToSubscribe = () => 'waits';
      await harness.reconnect(server);
      expect(server.link.inFlight.size).toBe(8);
      for (const request of [...server.link.inFlight].slice(0, 3)) request.answer({});
      await flushPromises();
      expect([server.link.inFlight.size, server.link.count('resources/subscribe')]).toEqual([8, 11]);
    });

    it('send an update to subscribers of a server that does not support subscriptions', async () => {
      await open(new FakeServer(['x://a'], false));
      await harness.subscribe(client, 'x://a');
      await harness.reconnect(server);
      expect(client.updates).toEqual([{ uri: 'resource://s/x://a' }]);
    });

    it('retry a refused URI with growing delays', async () => {
      await harness.subscribe(client, 'x://a');
      await harness.subscribe(client, 'x://b');
      server.replyToSubscribe = (uri) => (uri === 'x://a' ? 'refuses' : 'takes');
      await harness.reconnect(server);
      expect(client.uris).toEqual(['resource://s/x://b']);
      expect(lines.join()).toContain('"message":"resources/subscribe failed"');
      await harness.pass(5000);
      expect(server.subscriptionRequests.slice(4)).toEqual(['+x://a']);
      server.replyToSubscribe = () => 'takes';
      await harness.pass(9999);
      expect(server.subscriptionRequests.slice(5)).toEqual([]);
      await harness.pass(1);
      expect(server.subscriptionRequests.slice(5)).toEqual(['+x://a']);
      expect(client.uris).toEqual(['resource://s/x://b', 'resource://s/x://a']);
      await harness.pass(600_000);
      expect(server.subscriptionRequests).toHaveLength(6);
    });

    it('do not retry a URI that is no longer offered or no longer subscribed to', async () => {
      const other = new FakeSubscriber('b');
      await harness.subscribe(client, 'x://a');
      await harness.subscribe(other, 'x://b');
      server.replyToSubscribe = () => 'refuses';
      server.resources = ['x://b'];
      await harness.reconnect(server);
      other.close();
      await harness.pass(600_000);
      expect(server.subscriptionRequests.toSorted()).toEqual(['+x://a', '+x://a', '+x://b', '+x://b']);
      expect(harness.subscribers.table.size).toBe(1);
    });
  });

  describe('for a pattern', () => {
    it('subscribe to all matches, and unsubscribe those without other subscribers', async () => {
      await open(new FakeServer(['x://a', 'x://b', 'y://c']));
      const other = new FakeSubscriber('b');
      await harness.subscribe(client, 'resource://s/x://*');
      await harness.subscribe(other, 'x://b');
      expect(server.subscriptionRequests).toEqual(['+x://a', '+x://b']);
      harness.unsubscribe(client, 'resource://s/x://*');
      await harness.pass(LINGER_MS);
      expect(server.subscriptionRequests.slice(2)).toEqual(['-x://a']);
      other.close();
      await harness.pass(LINGER_MS);
      expect([...server.held]).toEqual([]);
    });

    it('subscribe to listed instances of a template', async () => {
      server.templates = ['x://{id}', 'y://{id}'];
      await harness.list(server, 'x://a', 'x://b', 'y://a');
      await harness.subscribe(client, 'resource://s/x://{id}');
      expect(server.subscriptionRequests).toEqual(['+x://a', '+x://b']);
      await harness.subscribe(client, 'y://{id}');
      expect(harness.subscribers.table.size).toBe(2);
    });

    it('send eight requests at once', async () => {
      await open(new FakeServer(manyUris(30)));
      server.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(harness.subscribe(client, 'resource://s/*'));
      await flushPromises();
      for (let n = 0; n < 30; n++) {
        expect(server.link.inFlight.size).toBe(Math.min(8, 30 - n));
        expect(outcome).toEqual({});
        server.accept(uriOf(n));
        await flushPromises();
      }
      await harness.pass(0);
      expect(outcome.value).toMatchObject({ uri: '*' });
      expect(await harness.upstream()).toBe(30);
    });

    it('succeed when one match is confirmed, and retry the others', async () => {
      server.replyToSubscribe = (uri) => (uri === 'x://a' ? 'refuses' : 'takes');
      await harness.subscribe(client, 'resource://s/*');
      expect(server.subscriptionRequests).toEqual(['+x://a', '+x://b']);
      server.replyToSubscribe = () => 'takes';
      await harness.pass(5000);
      expect(server.subscriptionRequests.slice(2)).toEqual(['+x://a']);
      expect(client.uris).toEqual(['resource://s/x://a']);
    });

    it('fail when no match is confirmed', async () => {
      server.replyToSubscribe = () => 'refuses';
      const outcome = outcomeOf(harness.subscribe(client, 'resource://s/*'));
      await harness.pass(0);
      expect(outcome.error).toMatchObject({ kind: 'subscription-failed' });
      expect(harness.subscribers.table.size).toBe(0);
    });

    it('send no further requests to a server after timeouts', async () => {
      await open(new FakeServer(manyUris(30)));
      server.replyToSubscribe = () => 'waits';
      const outcome = outcomeOf(harness.subscribe(client, 'resource://s/*'));
      await flushPromises();
      for (const request of server.link.inFlight) request.fail(new GatewayError('timeout', 'late'));
      await harness.pass(0);
      expect(outcome.error).toMatchObject({ kind: 'timeout' });
      expect(server.subscriptionRequests).toHaveLength(8);
    });

    it('subscribe to at most 1000 matches, even if the listing grows, and unsubscribe all of them', async () => {
      await open(new FakeServer(manyUris(1100)));
      await harness.subscribe(client, 'resource://s/*');
      expect(await harness.upstream()).toBe(1000);
      expect(lines.join()).toContain('only 1000 resources of a pattern are watched');
      await harness.list(server, 'w://first', ...manyUris(1200));
      await harness.pass(0);
      expect(server.held.has('w://first')).toBe(false);
      expect(await harness.upstream()).toBe(1000);
      client.close();
      for (let round = 0; round < 150; round++) await harness.pass(LINGER_MS);
      expect([...server.held]).toEqual([]);
      expect(await harness.upstream()).toBe(0);
    });
  });

  describe('with watch.pollMs', () => {
    const POLL = { s: { timeoutMs: 60_000, watch: { pollMs: 1000 } } };

    beforeEach(async () => {
      jest.spyOn(Math, 'random').mockReturnValue(0.5);
      await open(new FakeServer(['x://a', 'x://b'], false), { entries: POLL });
    });

    it('poll a resource once for all subscribers, until the last one leaves', async () => {
      const other = new FakeSubscriber('b');
      for (const one of [client, other]) await harness.subscribe(one, 'x://a');
      expect(server.readsOf('x://a')).toBe(1);
      await harness.pass(1000);
      expect([server.readsOf('x://a'), client.uris]).toEqual([2, []]);
      server.reads = () => 'something else';
      await harness.pass(1000);
      expect(server.readsOf('x://a')).toBe(3);
      for (const one of [client, other]) expect(one.updates).toEqual([{ uri: 'resource://s/x://a' }]);
      for (const one of [client, other]) one.close();
      await harness.pass(LINGER_MS);
      await harness.pass(10_000);
      expect(server.readsOf('x://a')).toBe(3);
      expect(server.subscriptionRequests).toEqual([]);
    });

    it('poll only over the new link after a reconnect', async () => {
      await harness.subscribe(client, 'x://a');
      await harness.reconnect(server);
      expect(client.updates).toEqual([{ uri: 'resource://s/x://a' }]);
      expect(server.readsOf('x://a')).toBe(2);
      await harness.pass(1000);
      expect(server.readsOf('x://a')).toBe(3);
    });

    it('stop polling when the server is disabled, also while calls are in flight', async () => {
      await harness.subscribe(client, 'x://a');
      const call = harness.backends
        .get('s')
        .call({ method: 'tools/call', params: '{}', caller: client.call() });
      const outcome = outcomeOf(call);
      await harness.enable('s', false);
      await harness.pass(900);
      await harness.pass(900);
      expect(outcome).toEqual({});
      expect(server.readsOf('x://a')).toBe(1);
      server.link.asked('tools/call').answer({});
    });

    it('follow a changed poll interval over the same link', async () => {
      await harness.subscribe(client, 'x://a');
      await harness.reload({ s: { timeoutMs: 60_000, watch: { pollMs: 100 } } });
      const before = server.readsOf('x://a');
      await harness.pass(100);
      expect(server.readsOf('x://a')).toBe(before + 1);
      await harness.reload({ s: { timeoutMs: 60_000 } });
      await harness.pass(10_000);
      expect(server.readsOf('x://a')).toBe(before + 1);
      await harness.reload(POLL);
      await harness.pass(1000);
      expect(server.readsOf('x://a')).toBe(before + 3);
      expect(server.links).toHaveLength(1);
    });

    it('run at most four polls at once through the call gate', async () => {
      await open(new FakeServer(manyUris(20), false), { entries: POLL });
      for (const uri of server.resources) await harness.subscribe(client, uri);
      let maxInFlight = 0;
      server.reads = (uri) => {
        maxInFlight = Math.max(maxInFlight, harness.backends.get('s').status().inFlight);
        return uri;
      };
      await harness.pass(1000);
      expect(maxInFlight).toBe(4);
      expect(server.readsOf(uriOf(19))).toBe(2);
    });

    it('do not poll a server that supports subscriptions', async () => {
      await open(new FakeServer(['x://a']), { entries: POLL });
      await harness.subscribe(client, 'x://a');
      await harness.pass(10_000);
      expect([server.subscriptionRequests, server.readsOf('x://a')]).toEqual([['+x://a'], 0]);
    });
  });

  it('leave no timer when the gateway stops', async () => {
    await open(new FakeServer(['x://a'], false), { entries: { s: { watch: { pollMs: 1000 } } } });
    await harness.subscribe(client, 'x://a');
    await harness.close();
    harness.unsubscribe(client, 'x://a');
    await harness.pass(10_000);
    expect(server.readsOf('x://a')).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
  });
});
