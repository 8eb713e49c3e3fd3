import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { isAlive, untilExited } from '../kit/processes.js';
import { exchange } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import { Scrape } from '../kit/scrape.js';
import type { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
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
const DELETED = { 'io.gatehouse/state': 'deleted' };

describe('a subscription', () => {
  let docs: ScriptedServer;
  let gateway: Gateway;
  let admin: AdminClient;

  let commonGateway: Gateway;

  beforeAll(async () => {
    commonGateway = await startGateway({ admin: { token: ADMIN_TOKEN, allowStdio: true } });
  });

  beforeEach(async () => {
    docs = await startSubscribableServer('x://a', 'x://b');
    gateway = commonGateway;
    admin = new AdminClient(gateway);
  });

  /** Replaces the server of the previous test. */
  async function open(entry: object = docs.http): Promise<void> {
    await admin.delete('servers/docs');
    expect((await admin.put('servers/docs', entry)).status).toBe(201);
    await gateway.listed({ resources: ['docs'] });
  }

  async function openWithLimits(limits: object): Promise<void> {
    gateway = await startGateway({
      mcpServers: { docs: docs.http },
      admin: { token: ADMIN_TOKEN },
      limits,
    });
    admin = new AdminClient(gateway);
    await gateway.listed({ resources: ['docs'] });
  }

  const metric = async (name: string, labels: Record<string, string> = {}): Promise<number | undefined> =>
    new Scrape((await exchange(gateway.urlOf('/metrics'))).text).value(name, labels);
  const rows = async (query = ''): Promise<Record<string, unknown>[]> =>
    (await admin.get(`subscriptions${query}`)).json['subscriptions'] as Record<string, unknown>[];

  it('stays when its resource is deleted: the client gets a deletion update, and another when the resource is back', async () => {
    await open();
    const [one, other] = [
      await SubscribedClient.of(gateway.url, A),
      await SubscribedClient.of(gateway.url, B),
    ];
    docs.withoutResource('x://a').broadcast('notifications/resources/list_changed');
    await one.untilUpdated(A);
    expect(one.updates).toEqual([{ uri: A, _meta: DELETED }]);
    await one.events.message('the list', ({ method }) => method === 'notifications/resources/list_changed');
    docs.resource('x://a').broadcast('notifications/resources/list_changed');
    await one.untilUpdated(A, 2);
    expect(one.updates).toEqual([{ uri: A, _meta: DELETED }, { uri: A }]);
    expect(subscriptionRequests(docs).filter((request) => request === '+x://a')).toHaveLength(2);
    sendUpdate(docs, 'x://a', { version: 3 });
    await one.untilUpdated(A, 3);
    expect(one.updates.at(-1)).toEqual({ uri: A, version: 3 });
    expect(other.updates).toEqual([]);
  });

  it('with coalesceMs delivers the first update of a burst at once and the last after the window', async () => {
    await open({ ...docs.http, watch: { coalesceMs: 1000 } });
    const one = await SubscribedClient.of(gateway.url, A, B);
    const outcome = { outcome: 'coalesced' };
    const before = (await metric('mcp_subscription_events_total', outcome))!;
    for (let n = 1; n <= 100; n++) sendUpdate(docs, 'x://a', { n });
    sendUpdate(docs, 'x://b');
    await one.untilUpdated(B);
    await one.untilUpdated(A, 2);
    expect(one.updates).toEqual([{ uri: A, n: 1 }, { uri: B }, { uri: A, n: 100 }]);
    expect(await metric('mcp_subscription_events_total', outcome)).toBe(before + 98);
  });

  it('that ended delivers no update that waited for the stream of its client', async () => {
    await open();
    const session = await RawSession.open(gateway.url);
    for (const uri of [A, B]) await session.request('resources/subscribe', { uri });
    const dropped = { kind: 'resources/updated', outcome: 'dropped' };
    const droppedBefore = (await metric('mcp_notifications_total', dropped))!;
    const written = (): Promise<number | undefined> =>
      metric('mcp_subscription_events_total', { outcome: 'written' });
    const writtenBefore = (await written())!;
    const witness = await SubscribedClient.of(gateway.url, A, B);
    for (const uri of ['x://a', 'x://b']) sendUpdate(docs, uri, { note: uri });
    await Promise.all([witness.untilUpdated(A), witness.untilUpdated(B)]);
    expect(await written()).toBe(writtenBefore + 2);
    await session.request('resources/unsubscribe', { uri: A });
    const one = await SubscribedClient.onSession(session);
    await one.untilUpdated(B);
    expect(one.updates).toEqual([{ uri: B, note: 'x://b' }]);
    expect(await written()).toBe(writtenBefore + 3);
    expect(await metric('mcp_notifications_total', dropped)).toBe(droppedBefore + 1);
  });

  it('survives that its server is disabled and enabled, and ends when the server is removed', async () => {
    await open(docs.stdio());
    const one = await SubscribedClient.of(gateway.url, A);
    const pid = docs.link.pid!;
    expect((await admin.post('servers/docs/disable')).status).toBe(200);
    await one.untilUpdated(A);
    expect(one.updates).toEqual([{ uri: A, _meta: DELETED }]);
    expect(await rows()).toHaveLength(1);
    expect(await metric('gatehouse_upstream_subscriptions')).toBe(0);
    await untilExited([pid]);
    const other = await SubscribedClient.open(gateway.url);
    expect((await other.subscribe(A)).error).toMatchObject({ code: -32602 });
    expect((await admin.post('servers/docs/enable')).status).toBe(200);
    await one.untilUpdated(A, 2);
    sendUpdate(docs, 'x://a', { after: true });
    await one.untilUpdated(A, 3);
    expect(one.updates.slice(1)).toEqual([{ uri: A }, { uri: A, after: true }]);
    expect(subscriptionRequests(docs)).toEqual(['+x://a', '+x://a']);
    expect((await admin.delete('servers/docs')).status).toBe(204);
    expect(await rows()).toEqual([]);
    expect(one.updates).toHaveLength(3);
  });

  it('is listed by the admin API with client, server, URI and time, and found by client, server and URI', async () => {
    await open();
    const startedAt = Date.now();
    const [one, other] = [
      await SubscribedClient.open(gateway.url),
      await SubscribedClient.of(gateway.url, A, B),
    ];
    const id = await one.subscribed(A);
    const [row] = (await rows(`?uri=${encodeURIComponent('x://a')}`)).filter((found) => found['id'] === id);
    expect(row).toEqual({
      id,
      client: expect.stringMatching(/^[\w-]+$/),
      clientName: 'raw',
      server: 'docs',
      uri: A,
      ownUri: 'x://a',
      original: 'x://a',
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      hasStream: true,
    });
    expect(Date.parse(String(row!['since']))).toBeGreaterThanOrEqual(startedAt);
    expect(await rows(`?client=${String(row!['client'])}`)).toEqual([row]);
    expect(await rows('?server=docs')).toHaveLength(3);
    await other.session.end();
    expect(await rows()).toEqual([row]);
  });

  it('ends when an administrator deletes it, and the last one is unsubscribed at the server', async () => {
    await open();
    const [one, other] = [
      await SubscribedClient.open(gateway.url),
      await SubscribedClient.of(gateway.url, A),
    ];
    const id = await one.subscribed(A);
    expect((await admin.delete(`subscriptions/${id}`)).status).toBe(204);
    sendUpdate(docs, 'x://a');
    await other.untilUpdated(A);
    expect(one.updates).toEqual([]);
    await other.session.end();
    await untilRequested(docs, '-x://a');
    expect(await rows()).toEqual([]);
  });

  it('ends with its session, by DELETE or by expiry', async () => {
    await openWithLimits({ sessionIdleMs: 2000 });
    const [ended, expired] = [
      await SubscribedClient.of(gateway.url, A),
      await SubscribedClient.of(gateway.url, B),
    ];
    await ended.session.end();
    expired.events.disconnect();
    await untilRequested(docs, '-x://a');
    await untilRequested(docs, '-x://b');
    expect(await metric('mcp_active_subscriptions')).toBe(0);
    await until(
      'the server holds none',
      async () => (await metric('gatehouse_upstream_subscriptions')) === 0,
    );
  });

  it('is refused over the limit, also under concurrent requests, and a freed slot is available at once', async () => {
    await openWithLimits({ subscriptionsPerClient: 1 });
    const one = await SubscribedClient.open(gateway.url);
    const answers = await Promise.all([A, B, A, B].map((uri) => one.subscribe(uri)));
    expect(answers.filter(({ result }) => result)).toHaveLength(2);
    expect(answers.find(({ error }) => error)!.error).toEqual({
      code: -31029,
      message: expect.stringContaining('may have at most 1 subscriptions'),
      data: { code: 'LimitExceeded', limit: 1 },
    });
    expect(await rows()).toHaveLength(1);
    for (const uri of [A, B]) await one.unsubscribe(uri);
    await one.subscribed(B);
  });

  it('with isolation per session uses the link of its client, in both directions', async () => {
    await open({ ...docs.stdio(), isolation: 'session' });
    const [one, two] = [await SubscribedClient.of(gateway.url, A), await SubscribedClient.of(gateway.url, A)];
    const requestsOn = (link: unknown): string[] =>
      docs.received
        .filter((received) => received.link === link)
        .flatMap(({ message: { method = '' } }) => (method.endsWith('subscribe') ? [method] : []));
    // A client that only listed may have a link too.
    const [shared] = docs.links;
    const [ofOne, ofTwo, ...others] = docs.links.filter((link) => requestsOn(link).length > 0);
    expect(requestsOn(shared)).toEqual([]);
    expect([ofOne, ofTwo].map(requestsOn)).toEqual([['resources/subscribe'], ['resources/subscribe']]);
    expect(others).toEqual([]);
    const updateOn = (link: (typeof docs.links)[number] | undefined, n: number): void =>
      link!.send(
        JSON.stringify({
          jsonrpc: '2.0',
          method: 'notifications/resources/updated',
          params: { uri: 'x://a', n },
        }),
      );
    updateOn(shared, 0);
    updateOn(ofOne, 1);
    updateOn(ofTwo, 2);
    await Promise.all([one.untilUpdated(A), two.untilUpdated(A)]);
    expect([one.updates, two.updates]).toEqual([[{ uri: A, n: 1 }], [{ uri: A, n: 2 }]]);

    process.kill(ofOne!.pid!, 'SIGKILL');
    await one.untilUpdated(A, 2);
    const next = docs.links.at(-1)!;
    expect(requestsOn(next)).toEqual(['resources/subscribe']);
    updateOn(next, 3);
    await one.untilUpdated(A, 3);
    expect(one.updates).toEqual([{ uri: A, n: 1 }, { uri: A }, { uri: A, n: 3 }]);
    expect(two.updates).toHaveLength(1);

    await one.session.end();
    await until('the process of the client is gone', () => !isAlive(next.pid!));
    expect(isAlive(ofTwo!.pid!)).toBe(true);
  });
});
