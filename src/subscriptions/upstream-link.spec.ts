import { describe, expect, it } from '@jest/globals';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { LINGER_MS, SubscriptionHarness } from '../../test/kit/subscription-harness.js';

const PUBLIC = 'resource://s/x://a';

async function open(
  prepare: (server: FakeServer) => void,
  entry: object = {},
  server = new FakeServer(['x://a', 'x://b']),
) {
  const log = recordLog();
  const harness = await SubscriptionHarness.open({ s: server }, { entries: { s: entry } });
  prepare(server);
  const client = new FakeSubscriber('a');
  const updates = (): unknown => harness.backends.get('s').status().updates;
  const warnings = (): string[] => log.filter((line) => line.includes('no updates of subscribed'));
  return { server, harness, client, updates, warnings };
}

const withoutMethod = (server: FakeServer): void => void (server.replyToSubscribe = () => 'lacks');
const withoutStream = (server: FakeServer): void => void (server.link.notificationStream = 'none');

describe('a server that announces subscriptions and answers resources/subscribe with -32601', () => {
  it('is not asked again; subscriptions are tracked and its updates delivered', async () => {
    const { server, harness, client, updates } = await open(withoutMethod);
    await harness.subscribe(client, 'x://a');
    await harness.subscribe(client, 'x://b');
    expect(server.subscriptionRequests).toEqual(['+x://a']);
    expect(updates()).toBe('unsolicited');
    server.link.emit('notifications/resources/updated', { uri: 'x://a' });
    await harness.pass(0);
    expect(client.uris).toEqual([PUBLIC]);
    harness.unsubscribe(client, 'x://a');
    await harness.pass(LINGER_MS);
    expect(server.subscriptionRequests).toEqual(['+x://a']);
  });

  it('is polled if watch.pollMs is set', async () => {
    const { server, harness, client, updates } = await open(withoutMethod, { watch: { pollMs: 1000 } });
    await harness.subscribe(client, 'x://a');
    expect(updates()).toBe('polling');
    server.reads = () => 'changed';
    await harness.pass(1500);
    expect(client.uris).toEqual([PUBLIC]);
  });
});

describe('a server that announces subscriptions and has no notification stream', () => {
  it('is subscribed, and the status says that no updates can come', async () => {
    const { server, harness, client, updates, warnings } = await open(withoutStream);
    await harness.subscribe(client, 'x://a');
    expect(server.subscriptionRequests).toEqual(['+x://a']);
    expect(updates()).toBe('none');
    await harness.pass(0);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toContain('"set":"watch.pollMs"');
  });

  it('is subscribed and polled if watch.pollMs is set, until the client unsubscribes', async () => {
    const { server, harness, client, updates } = await open(withoutStream, { watch: { pollMs: 1000 } });
    await harness.subscribe(client, 'x://a');
    expect([server.subscriptionRequests, updates()]).toEqual([['+x://a'], 'polling']);
    server.reads = () => 'changed';
    await harness.pass(1500);
    expect(client.uris).toEqual([PUBLIC]);
    harness.unsubscribe(client, 'x://a');
    await harness.pass(LINGER_MS);
    const reads = server.readsOf('x://a');
    await harness.pass(5000);
    expect([server.subscriptionRequests, server.readsOf('x://a')]).toEqual([['+x://a', '-x://a'], reads]);
  });
});

const silent = (): FakeServer => new FakeServer(['x://a', 'x://b'], false);

describe('a server that announces no subscriptions', () => {
  it('is not subscribed by default; the log says once what to set', async () => {
    const { server, harness, client, updates, warnings } = await open(() => {}, {}, silent());
    await harness.subscribe(client, 'x://a');
    await harness.subscribe(client, 'x://b');
    expect([server.subscriptionRequests, updates()]).toEqual([[], 'unsolicited']);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toContain('subscribe: try');
  });

  it('is subscribed with subscribe: try, and says nothing', async () => {
    const { server, harness, client, updates, warnings } = await open(
      () => {},
      { subscribe: 'try' },
      silent(),
    );
    await harness.subscribe(client, 'x://a');
    expect([server.subscriptionRequests, updates()]).toEqual([['+x://a'], 'subscriptions']);
    expect(warnings()).toEqual([]);
  });

  it('is tried once with subscribe: try if it answers -32601, and subscriptions are tracked', async () => {
    const { server, harness, client, updates, warnings } = await open(
      withoutMethod,
      { subscribe: 'try' },
      silent(),
    );
    await harness.subscribe(client, 'x://a');
    await harness.subscribe(client, 'x://b');
    expect([server.subscriptionRequests, updates()]).toEqual([['+x://a'], 'unsolicited']);
    expect([harness.rows.length, warnings().length]).toEqual([2, 1]);
  });
});

describe('a server with subscribe: never', () => {
  it('is not subscribed although it announces subscriptions', async () => {
    const { server, harness, client, updates } = await open(() => {}, { subscribe: 'never' });
    await harness.subscribe(client, 'x://a');
    expect([server.subscriptionRequests, updates()]).toEqual([[], 'unsolicited']);
  });
});
