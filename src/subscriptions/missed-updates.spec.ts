import { beforeEach, describe, expect, it } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { outcomeOf, flushPromises } from '../../test/kit/promises.js';
import { SubscriptionHarness } from '../../test/kit/subscription-harness.js';

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
    expect(client.uris).toEqual(['resource://s/x://a', 'resource://s/x://b']);
    expect(other.uris).toEqual([]);
  });

  it('sends an update for every resource that matches a pattern', async () => {
    await harness.subscribe(client, 'resource://s/x://*');
    client.reconnect();
    await harness.pass(0);
    expect(client.uris).toEqual(['resource://s/x://a', 'resource://s/x://b']);
  });

  it('sends the deletion of a resource that is not listed any more', async () => {
    await harness.subscribe(client, 'x://a');
    await harness.list(server, 'x://b');
    client.delivered.length = 0;
    client.reconnect();
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
    expect(client.uris).toEqual(['resource://s/x://b']);
    server.accept('x://a');
    await harness.pass(0);
    expect(outcome).toHaveProperty('value');
    expect(client.uris).toEqual(['resource://s/x://b', 'resource://s/x://a']);
  });
});
