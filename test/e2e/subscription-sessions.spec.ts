import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { startGateway, type Gateway, type GatewayConfig } from '../kit/gateway.js';
import { exchange, openExchange } from '../kit/http.js';
import { RawSession, type Answer } from '../kit/raw-session.js';
import type { ScriptedBackend } from '../kit/scripted-backend.js';
import { Scrape } from '../kit/scrape.js';
import {
  untilRequested,
  SubscribedClient,
  startSubscribableBackend,
  subscriptionRequests,
  sendUpdate,
} from '../kit/subscribed-client.js';
import { until } from '../kit/until.js';

const A = 'resource://docs/x://a';
const B = 'resource://docs/x://b';

interface Stage {
  readonly docs: ScriptedBackend;
  readonly gateway: Gateway;
  readonly admin: AdminClient;
}

async function stage(config: GatewayConfig = {}): Promise<Stage> {
  const [docs, twin] = await Promise.all([
    startSubscribableBackend('x://a', 'x://b'),
    startSubscribableBackend('x://a'),
  ]);
  const gateway = await startGateway({
    mcpServers: { docs: docs.http, twin: twin.http },
    projects: { one: { servers: ['docs', 'twin'] }, two: { servers: ['twin'] } },
    admin: { token: ADMIN_TOKEN },
    ...config,
  });
  await gateway.listed({ resources: ['docs', 'twin'] });
  return { docs, gateway, admin: new AdminClient(gateway) };
}

const countOf = async ({ gateway }: Stage, name: string, labels?: Record<string, string>) =>
  new Scrape((await exchange(gateway.urlOf('/metrics'))).text).value(name, labels);

describe('a subscription at a gateway that waits two seconds for its clients', () => {
  let house: Stage;
  let left: RawSession;
  let subscribed: Answer;
  let listener: SubscribedClient;

  beforeAll(async () => {
    house = await stage({ limits: { sessionIdleMs: 2000 }, log: { level: 'debug' } });
    listener = await SubscribedClient.of(house.gateway.url, B);
    left = await RawSession.open(house.gateway.url);
    subscribed = await left.request('resources/subscribe', { uri: A });
  }, 30_000);

  it('ends with a session that nobody uses any more, and the server is told', async () => {
    expect(subscribed.result).toBeDefined();
    await untilRequested(house.docs, '-x://a');
    expect(subscriptionRequests(house.docs)).toEqual(['+x://b', '+x://a', '-x://a']);
    expect(await countOf(house, 'mcp_active_subscriptions')).toBe(1);
    await house.gateway.logged({ message: 'subscription ended with its client', uri: 'x://a' });
  });

  it('does not end as long as its client listens, however quietly', async () => {
    const { json } = await house.admin.get('sessions');
    expect(json['sessions']).toHaveLength(1);
    expect((await left.post({ jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(404);
    sendUpdate(house.docs, 'x://b');
    await listener.untilUpdated(B);
  });
});

describe('a subscription', () => {
  let house: Stage;

  beforeAll(async () => {
    house = await stage({ log: { level: 'debug' } });
  }, 30_000);

  it('ends when its project does not show the server any more, over a stream that stays open', async () => {
    const { docs, gateway, admin } = house;
    const listener = await SubscribedClient.of(
      gateway.urlOf('/projects/one/mcp'),
      A,
      'resource://twin/x://a',
    );
    const staying = await SubscribedClient.of(gateway.url, B);
    sendUpdate(docs, 'x://a');
    await listener.untilUpdated(A);
    expect((await admin.put('projects/one', { servers: ['twin'] })).status).toBe(200);
    await untilRequested(docs, '-x://a');
    await gateway.logged({ message: 'subscription ended with its scope', uri: 'x://a' });
    await listener.events.message(
      'that the list changed',
      ({ method }) => method === 'notifications/resources/list_changed',
    );
    sendUpdate(docs, 'x://a', { n: 2 });
    sendUpdate(docs, 'x://b');
    await staying.untilUpdated(B);
    expect(listener.uris).toEqual([A]);
    expect((await listener.subscribe(A)).error).toMatchObject({ code: -32602, data: { uri: A } });
    const { json } = await admin.get('subscriptions?project=one');
    expect(json).toMatchObject({ subscriptions: [{ server: 'twin' }], total: 1 });
    expect(listener.events.isOver).toBe(false);
  });

  it('waits for a client that has no stream, and only the last word of each resource', async () => {
    const { docs, gateway } = house;
    const session = await RawSession.open(gateway.url);
    for (const uri of [A, B]) await session.request('resources/subscribe', { uri });
    const witness = await SubscribedClient.of(gateway.url, A, B);
    for (let n = 1; n <= 5; n++) sendUpdate(docs, 'x://a', { n });
    sendUpdate(docs, 'x://b', { n: 6 });
    await witness.untilUpdated(B);
    const late = await SubscribedClient.over(session);
    await late.untilUpdated(B);
    expect(late.updates).toEqual([
      { uri: A, n: 5 },
      { uri: B, n: 6 },
    ]);
    expect(witness.updates).toHaveLength(6);
  });

  it('of a reader that takes nothing costs it its connection, and nobody else anything', async () => {
    const impatient = await stage({ limits: { streamStuckMs: 500 } });
    const { docs, gateway } = impatient;
    const stuck = await RawSession.open(gateway.url);
    await stuck.request('resources/subscribe', { uri: A });
    const headers = { accept: 'text/event-stream', 'mcp-session-id': stuck.id };
    const unread = await openExchange(gateway.url, { headers });
    const reader = await SubscribedClient.of(gateway.url, A);
    const filling = 'x'.repeat(200_000);
    let sent = 0;
    await until(
      'the stuck reader is let go',
      async () => {
        for (let n = 0; n < 10; n++) sendUpdate(docs, 'x://a', { n: ++sent, filling });
        await reader.untilUpdated(A, sent);
        return (await countOf(impatient, 'gatehouse_stream_closes_total', { reason: 'stuck' })) === 1;
      },
      20_000,
    );
    expect(reader.updates.map(({ n }) => n)).toEqual(Array.from({ length: sent }, (_, n) => n + 1));
    unread.destroy();
    // It lost its connection and not its session: what it missed is there, as one.
    const back = await SubscribedClient.over(stuck);
    await until('the last word is there', () => back.updates.at(-1)?.['n'] === sent);
    expect(back.updates.length).toBeLessThan(sent);
  });
});

describe('the list of subscriptions', () => {
  let house: Stage;
  let listeners: SubscribedClient[];
  let sessions: string[];

  beforeAll(async () => {
    house = await stage();
    const { gateway, admin } = house;
    listeners = [
      await SubscribedClient.of(gateway.url, A, B),
      await SubscribedClient.of(gateway.urlOf('/projects/two/mcp'), 'resource://twin/x://a'),
      await SubscribedClient.of(gateway.url, 'resource://docs/x://*'),
    ];
    const { json } = await admin.get('sessions');
    sessions = (json['sessions'] as { id: string }[]).map(({ id }) => id);
  }, 30_000);

  const found = async (query: string): Promise<unknown[]> => {
    const { json } = await house.admin.get(`subscriptions?${query}`);
    const subscriptions = json['subscriptions'] as { uri: string }[];
    expect(json['total']).toBe(subscriptions.length);
    return subscriptions.map(({ uri }) => uri);
  };

  it('says who, to what and since when, the oldest first', async () => {
    const { json } = await house.admin.get('subscriptions');
    const rows = json['subscriptions'] as Record<string, string>[];
    expect(rows.map(({ client, server, uri, original }) => [client, server, uri, original])).toEqual([
      [sessions[0], 'docs', A, 'x://a'],
      [sessions[0], 'docs', B, 'x://b'],
      [sessions[1], 'twin', 'resource://twin/x://a', 'x://a'],
      [sessions[2], 'docs', 'resource://docs/x://*', 'x://*'],
    ]);
    const times = rows.map(({ since }) => Date.parse(since!));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(Date.now() - times[0]!).toBeLessThan(60_000);
    for (const { session } of listeners) expect(JSON.stringify(json)).not.toContain(session.id);
  });

  it.each<[string, () => string, string[]]>([
    ['a server', () => 'server=twin', ['resource://twin/x://a']],
    ['a project', () => 'project=two', ['resource://twin/x://a']],
    ['a client', () => `client=${sessions[0]}`, [A, B]],
    ['a URI in any form', () => 'uri=x%3A%2F%2Fa', [A, 'resource://twin/x://a']],
    ['several of them', () => `client=${sessions[0]}&uri=docs_x___b&server=docs`, [B]],
    ['a client that there is not', () => 'client=0000000000000000', []],
  ])('is narrowed down by %s', async (_what, query, expected) => {
    expect(await found(query())).toEqual(expected);
  });

  it('can be shortened by administrators, who end a subscription for its client alone', async () => {
    const { docs, admin } = house;
    const { json } = await admin.get(`subscriptions?client=${sessions[0]}&uri=${encodeURIComponent(B)}`);
    const [{ id }] = json['subscriptions'] as [{ id: string }];
    expect((await new AdminClient(house.gateway, null).delete(`subscriptions/${id}`)).status).toBe(401);
    expect((await admin.delete(`subscriptions/${id}`)).status).toBe(204);
    expect((await admin.delete(`subscriptions/${id}`)).status).toBe(404);
    expect(await found(`client=${sessions[0]}`)).toEqual([A]);
    sendUpdate(docs, 'x://b');
    sendUpdate(docs, 'x://a');
    await listeners[0]!.untilUpdated(A);
    await listeners[2]!.untilUpdated(B);
    expect(listeners[0]!.uris).toEqual([A]);
    // Another still wants it by its beginning.
    expect(subscriptionRequests(docs)).not.toContain('-x://b');
  });
});
