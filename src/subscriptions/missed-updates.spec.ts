import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { FakeServer, manyUris } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { outcomeOf, flushPromises } from '../../test/kit/promises.js';
import { SubscriptionHarness } from '../../test/kit/subscription-harness.js';
import { coalesceKey } from './resource-update.js';

describe('MissedUpdates', () => {
  let server: FakeServer;
  let harness: SubscriptionHarness;
  let client: FakeSubscriber;

  beforeEach(async () => {
    recordLog();
    server = new FakeServer(['x://a', 'x://b', 'y://c']);
    harness = await SubscriptionHarness.open({ s: server });
    client = new FakeSubscriber('client');
  });

  it('sends one update per subscription to the client that has opened its stream again', async () => {
    const other = new FakeSubscriber('other');
    for (const uri of ['x://a', 'x://b']) await harness.subscribe(client, uri);
    await harness.subscribe(other, 'x://a');
    client.reconnect();
    await harness.pass(0);
    expect(client.uris).toEqual(['resource://s/x://a', 'resource://s/x://b']);
    expect(other.uris).toEqual([]);
  });

  it('sends an update for every resource that matches a pattern', async () => {
    await harness.subscribe(client, 'resource://s/x://*');
    client.reconnect();
    await harness.pass(0);
    expect(client.uris).toEqual(['resource://s/x://a', 'resource://s/x://b']);
  });

  it('sends no update of a resource whose update is queued', async () => {
    for (const uri of ['x://a', 'x://b']) await harness.subscribe(client, uri);
    client.reconnect(coalesceKey('s', 'x://a'));
    await harness.pass(0);
    expect(client.uris).toEqual(['resource://s/x://b']);
  });

  it('sends no update after the subscription has ended', async () => {
    for (const uri of ['x://a', 'x://b']) await harness.subscribe(client, uri);
    client.reconnect();
    harness.unsubscribe(client, 'x://b');
    await harness.pass(0);
    expect(client.uris).toEqual(['resource://s/x://a']);
  });

  it('works in slices, and starts again when the client reconnects meanwhile', async () => {
    await harness.list(server, ...manyUris(20));
    await harness.subscribe(client, 'resource://s/x://*');
    await harness.pass(0);
    client.delivered.length = 0;
    // Every reading of the clock ends a slice.
    let now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => (now += 100));
    client.reconnect();
    await flushPromises();
    const sent = client.delivered.length;
    expect(sent).toBeLessThan(20);
    clock.mockRestore();
    client.reconnect();
    for (let round = 0; round < 5; round++) await harness.pass(0);
    expect(client.uris).toHaveLength(sent + 20);
  });

  it('sends the deletion of a resource that is not listed any more', async () => {
    await harness.subscribe(client, 'x://a');
    await harness.list(server, 'x://b');
    client.delivered.length = 0;
    client.reconnect();
    await harness.pass(0);
    expect(client.updates).toEqual([
      { uri: 'resource://s/x://a', _meta: { 'io.gatehouse/state': 'deleted' } },
    ]);
  });

  it('sends no update before the acknowledgement of its subscription', async () => {
    await harness.subscribe(client, 'x://b');
    server.replyToSubscribe = () => 'waits';
    const outcome = outcomeOf(harness.subscribe(client, 'x://a'));
    await flushPromises();
    client.reconnect();
    await flushPromises();
    expect(client.uris).toEqual(['resource://s/x://b']);
    server.accept('x://a');
    await harness.pass(0);
    expect(outcome).toHaveProperty('value');
    expect(client.uris).toEqual(['resource://s/x://b', 'resource://s/x://a']);
  });
});
