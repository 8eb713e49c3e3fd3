import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { startGateway, type Gateway, type GatewayConfig } from '../kit/gateway.js';
import { exchange, openExchange } from '../kit/http.js';
import { RawSession, type Answer } from '../kit/raw-session.js';
import type { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { Scrape } from '../kit/scrape.js';
import {
  untilRequested,
  SubscribedClient,
  startSubscribableServer,
  subscriptionRequests,
  sendUpdate,
} from '../kit/subscribed-client.js';
import { until } from '../kit/until.js';

const A = 'resource://docs/x://a';
const B = 'resource://docs/x://b';

interface Setup {
  readonly docs: ScriptedServer;
  readonly gateway: Gateway;
  readonly admin: AdminClient;
}

async function setUp(config: GatewayConfig = {}): Promise<Setup> {
  const [docs, other] = await Promise.all([
    startSubscribableServer('x://a', 'x://b'),
    startSubscribableServer('x://a'),
  ]);
  const gateway = await startGateway({
    mcpServers: { docs: docs.http, other: other.http },
    projects: { one: { servers: ['docs', 'other'] }, two: { servers: ['other'] } },
    admin: { token: ADMIN_TOKEN },
    ...config,
  });
  await gateway.listed({ resources: ['docs', 'other'] });
  return { docs, gateway, admin: new AdminClient(gateway) };
}

const countOf = async ({ gateway }: Setup, name: string, labels?: Record<string, string>) =>
  new Scrape((await exchange(gateway.urlOf('/metrics'))).text).value(name, labels);

describe('a subscription with a session idle time of two seconds', () => {
  let setup: Setup;
  let left: RawSession;
  let subscribed: Answer;
  let listener: SubscribedClient;

  beforeAll(async () => {
    setup = await setUp({ limits: { sessionIdleMs: 2000 }, log: { level: 'debug' } });
    listener = await SubscribedClient.of(setup.gateway.url, B);
    left = await RawSession.open(setup.gateway.url);
    subscribed = await left.request('resources/subscribe', { uri: A });
  });

  it('ends when its session expires, and is unsubscribed at the server', async () => {
    expect(subscribed.result).toBeDefined();
    await untilRequested(setup.docs, '-x://a');
    expect(subscriptionRequests(setup.docs)).toEqual(['+x://b', '+x://a', '-x://a']);
    expect(await countOf(setup, 'mcp_active_subscriptions')).toBe(1);
    await setup.gateway.logged({ message: 'subscription ended', uri: 'x://a', reason: 'session closed' });
  });

  it('stays while its client has an open event stream, without requests', async () => {
    const { json } = await setup.admin.get('sessions');
    expect(json['sessions']).toHaveLength(1);
    expect((await left.post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(404);
    sendUpdate(setup.docs, 'x://b');
    await listener.untilUpdated(B);
  });
});

describe('a subscription', () => {
  let setup: Setup;

  beforeAll(async () => {
    setup = await setUp({ log: { level: 'debug' } });
  });

  it('ends when its server is removed from its project, while the event stream stays open', async () => {
    const { docs, gateway, admin } = setup;
    const listener = await SubscribedClient.of(
      gateway.urlOf('/projects/one/mcp'),
      A,
      'resource://other/x://a',
    );
    const staying = await SubscribedClient.of(gateway.url, B);
    sendUpdate(docs, 'x://a');
    await listener.untilUpdated(A);
    expect((await admin.put('projects/one', { servers: ['other'] })).status).toBe(200);
    await untilRequested(docs, '-x://a');
    await gateway.logged({ message: 'subscription ended', uri: 'x://a', reason: 'access lost' });
    await listener.events.message(
      'the list change',
      ({ method }) => method === 'notifications/resources/list_changed',
    );
    sendUpdate(docs, 'x://a', { n: 2 });
    sendUpdate(docs, 'x://b');
    await staying.untilUpdated(B);
    expect(listener.uris).toEqual([A]);
    expect((await listener.subscribe(A)).error).toMatchObject({ code: -32602, data: { uri: A } });
    const { json } = await admin.get('subscriptions?project=one');
    expect(json).toMatchObject({ subscriptions: [{ server: 'other' }], total: 1 });
    expect(listener.events.hasEnded).toBe(false);
  });

  it('sends one update after a reconnect without Last-Event-ID, and is shown while it has no stream', async () => {
    const { docs, gateway, admin } = setup;
    const client = await SubscribedClient.of(gateway.url, A, B);
    client.events.disconnect();
    await until('the client has no stream', async () => {
      const { json } = await admin.get('subscriptions');
      const rows = json['subscriptions'] as { uri: string; hasStream: boolean }[];
      return rows.filter(({ hasStream }) => !hasStream).length === 2;
    });
    expect(await countOf(setup, 'gatehouse_subscriptions_without_stream')).toBe(2);
    const witness = await SubscribedClient.of(gateway.url, B);
    sendUpdate(docs, 'x://b', { n: 1 });
    await witness.untilUpdated(B);
    const again = await SubscribedClient.onSession(client.session);
    await again.untilUpdated(A);
    expect(again.updates).toEqual([{ uri: B, n: 1 }, { uri: A }]);
    expect(await countOf(setup, 'gatehouse_subscriptions_without_stream')).toBe(0);
  });

  it('sends an update again to a client that resumes before it, and counts it as redelivered', async () => {
    const { docs, gateway } = setup;
    const client = await SubscribedClient.of(gateway.url, A);
    const counts = (): Promise<(number | undefined)[]> =>
      Promise.all([
        ...['written', 'redelivered'].map((outcome) =>
          countOf(setup, 'mcp_notifications_total', { kind: 'resources/updated', outcome }),
        ),
        ...['written', 'redelivered'].map((outcome) =>
          countOf(setup, 'mcp_subscription_events_total', { outcome }),
        ),
      ]);
    const before = await counts();
    const idBefore = client.events.lastId;
    sendUpdate(docs, 'x://a', { n: 1 });
    await client.untilUpdated(A);
    client.events.disconnect();
    const again = await SubscribedClient.onSession(client.session, idBefore);
    await again.untilUpdated(A);
    expect(again.updates).toEqual([{ uri: A, n: 1 }]);
    const after = await counts();
    expect(after.map((count, at) => count! - before[at]!)).toEqual([1, 1, 1, 1]);
  });

  it('sends one update when the client resumes after an event whose successors are not kept any more', async () => {
    const few = await setUp({ limits: { replayEvents: 1 } });
    const client = await SubscribedClient.of(few.gateway.url, A, B);
    sendUpdate(few.docs, 'x://a', { n: 1 });
    await client.untilUpdated(A);
    const received = client.events.lastId;
    for (const uri of ['x://b', 'x://a']) sendUpdate(few.docs, uri, { n: 2 });
    await client.untilUpdated(A, 2);
    client.events.disconnect();
    const again = await SubscribedClient.onSession(client.session, received);
    await again.untilUpdated(B);
    await again.untilUpdated(A, 2);
    expect(again.updates).toEqual([{ uri: A, n: 2 }, { uri: A }, { uri: B }]);
  });

  it('keeps the last update of each resource for a client without an event stream', async () => {
    const { docs, gateway } = setup;
    const session = await RawSession.open(gateway.url);
    for (const uri of [A, B]) await session.request('resources/subscribe', { uri });
    const witness = await SubscribedClient.of(gateway.url, A, B);
    for (let n = 1; n <= 5; n++) sendUpdate(docs, 'x://a', { n });
    sendUpdate(docs, 'x://b', { n: 6 });
    await witness.untilUpdated(B);
    const late = await SubscribedClient.onSession(session);
    await late.untilUpdated(B);
    expect(late.updates).toEqual([
      { uri: A, n: 5 },
      { uri: B, n: 6 },
    ]);
    expect(witness.updates).toHaveLength(6);
  });

  it('of a client that does not read closes the stream of that client only', async () => {
    const strict = await setUp({ limits: { streamStuckMs: 2000 } });
    const { docs, gateway } = strict;
    const stuck = await RawSession.open(gateway.url);
    await stuck.request('resources/subscribe', { uri: A });
    const headers = { accept: 'text/event-stream', 'mcp-session-id': stuck.id };
    const unread = await openExchange(gateway.url, { headers });
    const reader = await SubscribedClient.of(gateway.url, A);
    const padding = 'x'.repeat(200_000);
    let sent = 0;
    await until('the stuck stream is closed', async () => {
      // The first hundred are more than the socket buffers of the kernel.
      const count = sent < 100 ? 10 : 1;
      for (let n = 0; n < count; n++) sendUpdate(docs, 'x://a', { n: ++sent, padding });
      await reader.untilUpdated(A, sent);
      return (await countOf(strict, 'gatehouse_stream_closes_total', { reason: 'stuck' })) === 1;
    });
    expect(reader.updates.map(({ n }) => n)).toEqual(Array.from({ length: sent }, (_, n) => n + 1));
    unread.destroy();
    // The session remains, with one update for all that were missed.
    const back = await SubscribedClient.onSession(stuck);
    await until('the last update arrives', () => back.updates.at(-1)?.['n'] === sent);
    expect(back.updates.length).toBeLessThan(sent);
  });
});

describe('the subscription list of the admin API', () => {
  let setup: Setup;
  let listeners: SubscribedClient[];
  let sessions: string[];

  beforeAll(async () => {
    setup = await setUp();
    const { gateway, admin } = setup;
    listeners = [
      await SubscribedClient.of(gateway.url, A, B),
      await SubscribedClient.of(gateway.urlOf('/projects/two/mcp'), 'resource://other/x://a'),
      await SubscribedClient.of(gateway.url, 'resource://docs/x://*'),
    ];
    const { json } = await admin.get('sessions');
    sessions = (json['sessions'] as { id: string }[]).map(({ id }) => id);
  });

  const found = async (query: string): Promise<unknown[]> => {
    const { json } = await setup.admin.get(`subscriptions?${query}`);
    const subscriptions = json['subscriptions'] as { uri: string }[];
    expect(json['total']).toBe(subscriptions.length);
    return subscriptions.map(({ uri }) => uri);
  };

  it('shows client, server, URIs and time, the oldest first, and no session id', async () => {
    const { json } = await setup.admin.get('subscriptions');
    const rows = json['subscriptions'] as Record<string, string>[];
    expect(rows.map(({ client, server, uri, original }) => [client, server, uri, original])).toEqual([
      [sessions[0], 'docs', A, 'x://a'],
      [sessions[0], 'docs', B, 'x://b'],
      [sessions[1], 'other', 'resource://other/x://a', 'x://a'],
      [sessions[2], 'docs', 'resource://docs/x://*', 'x://*'],
    ]);
    const times = rows.map(({ since }) => Date.parse(since!));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(Date.now() - times[0]!).toBeLessThan(60_000);
    for (const { session } of listeners) expect(JSON.stringify(json)).not.toContain(session.id);
  });

  it.each<[string, () => string, string[]]>([
    ['a server', () => 'server=other', ['resource://other/x://a']],
    ['a project', () => 'project=two', ['resource://other/x://a']],
    ['a client', () => `client=${sessions[0]}`, [A, B]],
    ['a URI in any form', () => 'uri=x%3A%2F%2Fa', [A, 'resource://other/x://a']],
    ['several criteria', () => `client=${sessions[0]}&uri=docs_x___b&server=docs`, [B]],
    ['an unknown client', () => 'client=0000000000000000', []],
  ])('is filtered by %s', async (_case, query, expected) => {
    expect(await found(query())).toEqual(expected);
  });

  it('lets an administrator delete one subscription of one client', async () => {
    const { docs, admin } = setup;
    const { json } = await admin.get(`subscriptions?client=${sessions[0]}&uri=${encodeURIComponent(B)}`);
    const [{ id }] = json['subscriptions'] as [{ id: string }];
    expect((await new AdminClient(setup.gateway, null).delete(`subscriptions/${id}`)).status).toBe(401);
    expect((await admin.delete(`subscriptions/${id}`)).status).toBe(204);
    expect((await admin.delete(`subscriptions/${id}`)).status).toBe(404);
    expect(await found(`client=${sessions[0]}`)).toEqual([A]);
    sendUpdate(docs, 'x://b');
    sendUpdate(docs, 'x://a');
    await listeners[0]!.untilUpdated(A);
    await listeners[2]!.untilUpdated(B);
    expect(listeners[0]!.uris).toEqual([A]);
    // A prefix subscription of another client still covers the URI.
    expect(subscriptionRequests(docs)).not.toContain('-x://b');
  });
});
