import { describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import { GatewayProcesses } from '../kit/gateway-processes.js';
import { startGateway, type Gateway, type GatewayConfig } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { ListenClient, SUBSCRIPTION_ID } from '../kit/listen-client.js';
import { ModernSdkServer } from '../kit/modern-server/modern-sdk-server.js';
import { buildServer, createState } from '../kit/modern-server/offer.mjs';
import { Scrape } from '../kit/scrape.js';
import type { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { connectModern } from '../kit/sdk-clients.js';
import { sendUpdate, startSubscribableServer, untilRequested } from '../kit/subscribed-client.js';
import { until, within } from '../kit/until.js';

const A = 'resource://docs/x://a';
const B = 'resource://docs/x://b';
const SIGNED = { admin: { token: ADMIN_TOKEN, allowStdio: true } };

const key = (id: string, projects: readonly string[]): object => ({
  id,
  hash: hashOf(`secret-${id}`),
  projects,
});
const keyHeader = (id: string): Record<string, string> => ({ authorization: `Bearer secret-${id}` });

const endOf = (id: string | number) => ({
  jsonrpc: '2.0',
  id,
  result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID]: id } },
});

const metricOf = async (gateway: Gateway, name: string, labels?: Record<string, string>): Promise<unknown> =>
  new Scrape((await exchange(gateway.urlOf('/metrics'))).text).value(name, labels);

interface Setup {
  readonly docs: ScriptedServer;
  readonly gateway: Gateway;
  readonly admin: AdminClient;
}

async function setUp(config: GatewayConfig = {}, server: 'http' | 'stdio' = 'http'): Promise<Setup> {
  const docs = await startSubscribableServer('x://a', 'x://b');
  const entry = server === 'http' ? docs.http : docs.stdio();
  const gateway = await startGateway({ ...SIGNED, mcpServers: { docs: entry }, ...config });
  const headers = config['auth'] ? keyHeader('a') : {};
  await gateway.listed({ resources: ['docs'] }, headers);
  return { docs, gateway, admin: new AdminClient(gateway) };
}

/** The updates of a stream after a final one has arrived, without the final one. */
async function allUpdates(docs: ScriptedServer, client: ListenClient): Promise<unknown[]> {
  sendUpdate(docs, 'x://a', { last: true });
  await until('the final update arrived', () => client.updates.some(({ last }) => last === true));
  return client.updates.filter(({ last }) => last !== true);
}

describe('a listen stream', () => {
  it('gets one update of each resource after its server was killed', async () => {
    const { docs, gateway } = await setUp({}, 'stdio');
    const one = await ListenClient.to(gateway.url, A);
    const two = await ListenClient.to(gateway.url, A, B);
    process.kill(docs.link.pid!, 'SIGKILL');
    await Promise.all([one.untilUpdated(A), two.untilUpdated(A), two.untilUpdated(B)]);
    expect(await allUpdates(docs, one)).toEqual([{ uri: A }]);
    expect(new Set(await allUpdates(docs, two))).toEqual(new Set([{ uri: A }, { uri: B }]));
  });

  it('gets one update after the notification stream of its server broke', async () => {
    const { docs, gateway } = await setUp();
    const client = await ListenClient.to(gateway.url, A);
    docs.httpEndpoint.stream.dropUnsentMessages().breakStream();
    sendUpdate(docs, 'x://a', { lost: true });
    await client.untilUpdated(A);
    expect(await allUpdates(docs, client)).toEqual([{ uri: A }]);
  });

  it('gets a deletion mark when its server is disabled, and an update when it is enabled', async () => {
    const { docs, gateway, admin } = await setUp();
    const client = await ListenClient.to(gateway.url, A);
    await admin.post('servers/docs/disable');
    await client.untilUpdated(A);
    await admin.post('servers/docs/enable');
    await client.untilUpdated(A, 2);
    await untilRequested(docs, '+x://a', 2);
    expect(await allUpdates(docs, client)).toEqual([
      { uri: A, _meta: { 'io.gatehouse/state': 'deleted' } },
      { uri: A },
    ]);
  });

  it('gets a deletion mark and an update when a resource is removed and listed again', async () => {
    const { docs, gateway } = await setUp();
    const client = await ListenClient.open(gateway.url, {
      resourcesListChanged: true,
      resourceSubscriptions: [B],
    });
    docs.withoutResource('x://b');
    docs.broadcast('notifications/resources/list_changed');
    await client.untilUpdated(B);
    docs.resource('x://b');
    docs.broadcast('notifications/resources/list_changed');
    await client.untilUpdated(B, 2);
    expect(client.updates).toEqual([{ uri: B, _meta: { 'io.gatehouse/state': 'deleted' } }, { uri: B }]);
    await until('both list changes', () => client.events.count('notifications/resources/list_changed') === 2);
  });

  it('loses the subscriptions of a removed server, and stays open', async () => {
    const { gateway, admin } = await setUp();
    const client = await ListenClient.open(gateway.url, {
      resourcesListChanged: true,
      resourceSubscriptions: [A],
    });
    await admin.delete('servers/docs');
    await until('the list change', () => client.events.count('notifications/resources/list_changed') === 1);
    expect(await metricOf(gateway, 'mcp_active_subscriptions')).toBe(0);
    expect(client.events.hasEnded).toBe(false);
  });

  it('gets updates of a server of 2026, once', async () => {
    const modern = await ModernSdkServer.start(() => buildServer(createState()));
    const gateway = await startGateway({ mcpServers: { new: { url: modern.url } } });
    await gateway.listed({ resources: ['new'] });
    const client = await connectModern(gateway.url);
    const { resources } = await client.listResources();
    const { uri } = resources[0]!;
    const listen = await ListenClient.to(gateway.url, uri);
    expect(listen.honoured).toEqual({ resourceSubscriptions: [uri] });
    modern.notify.resourceUpdated(uri.slice('resource://new/'.length));
    await listen.untilUpdated(uri);
    expect(listen.updates).toEqual([{ uri }]);
    modern.breakConnections();
    await listen.untilUpdated(uri, 2);
    expect(listen.updates).toEqual([{ uri }, { uri }]);
  });

  describe('of a key', () => {
    const AUTH = { apiKeys: [key('a', ['red']), key('b', ['*'])] };
    const PROJECTS = { red: { servers: ['docs'] }, blue: { servers: ['other'] } };

    async function setUpProjects(): Promise<Setup & { readonly other: ScriptedServer }> {
      const [docs, other] = await Promise.all([
        startSubscribableServer('x://a'),
        startSubscribableServer('y://a'),
      ]);
      const gateway = await startGateway({
        ...SIGNED,
        mcpServers: { docs: docs.http, other: other.http },
        projects: PROJECTS,
        auth: AUTH,
      });
      await gateway.listed({ resources: ['docs', 'other'] }, keyHeader('b'));
      return { docs, other, gateway, admin: new AdminClient(gateway) };
    }

    it('sees the servers of its projects only', async () => {
      const { docs, other, gateway } = await setUpProjects();
      const filter = {
        toolsListChanged: true,
        resourceSubscriptions: [A, 'resource://other/y://a', 'y://a'],
      };
      const limited = await ListenClient.open(gateway.url, filter, { headers: keyHeader('a') });
      const all = await ListenClient.open(gateway.url, filter, { headers: keyHeader('b') });
      const blue = gateway.urlOf('/projects/blue/mcp');
      const inProject = await ListenClient.open(blue, filter, { headers: keyHeader('b') });
      expect([limited, all, inProject].map(({ honoured }) => honoured)).toEqual([
        { toolsListChanged: true, resourceSubscriptions: [A] },
        { toolsListChanged: true, resourceSubscriptions: filter.resourceSubscriptions },
        { toolsListChanged: true, resourceSubscriptions: ['resource://other/y://a', 'y://a'] },
      ]);
      other.tool('added', () => ({ content: [] }));
      other.broadcast('notifications/tools/list_changed');
      sendUpdate(other, 'y://a');
      sendUpdate(docs, 'x://a');
      await Promise.all([
        limited.untilUpdated(A),
        all.untilUpdated('resource://other/y://a'),
        inProject.untilUpdated('resource://other/y://a'),
      ]);
      await until('the change of tools', () =>
        inProject.methods.includes('notifications/tools/list_changed'),
      );
      sendUpdate(docs, 'x://a');
      await limited.untilUpdated(A, 2);
      expect(limited.methods).not.toContain('notifications/tools/list_changed');
      expect(new Set(limited.uris)).toEqual(new Set([A]));
      expect(inProject.uris).not.toContain(A);
      const wrong = await ListenClient.refused(blue, filter, { headers: keyHeader('a') });
      expect(wrong.error?.code).toBe(-32602);
    });

    it('loses the subscriptions of a server that leaves its project, and hears of the change', async () => {
      const { docs, gateway, admin } = await setUpProjects();
      const filter = { resourcesListChanged: true, resourceSubscriptions: [A] };
      const client = await ListenClient.open(gateway.url, filter, { headers: keyHeader('a') });
      expect((await admin.put('projects/red', { servers: ['other'] })).status).toBeLessThan(300);
      await until('the list change', () => client.events.count('notifications/resources/list_changed') === 1);
      await until(
        'the subscription has ended',
        async () => (await metricOf(gateway, 'mcp_active_subscriptions')) === 0,
      );
      const witness = await ListenClient.open(gateway.url, filter, { headers: keyHeader('b') });
      sendUpdate(docs, 'x://a');
      await witness.untilUpdated(A);
      expect(client.updates).toEqual([]);
      expect(client.events.hasEnded).toBe(false);
    });

    it('ends with its result when the key is revoked, and others go on', async () => {
      const { docs, gateway, admin } = await setUpProjects();
      const filter = { resourceSubscriptions: [A] };
      const revoked = await ListenClient.open(gateway.url, filter, { headers: keyHeader('a'), id: 'r' });
      const kept = await ListenClient.open(gateway.url, filter, { headers: keyHeader('b') });
      expect((await admin.post('keys/a/revoke')).status).toBeLessThan(300);
      await revoked.events.untilEnded();
      expect(revoked.events.messages.at(-1)).toEqual(endOf('r'));
      expect(await metricOf(gateway, 'mcp_listens_active')).toBe(1);
      expect(await metricOf(gateway, 'mcp_active_subscriptions')).toBe(1);
      sendUpdate(docs, 'x://a');
      await kept.untilUpdated(A);
      expect(revoked.updates).toEqual([]);
    });
  });

  describe('at the end of the gateway', () => {
    it('ends with its result, as the SDK reports it, and does not delay the end', async () => {
      const { gateway } = await setUp({ shutdown: { drainMs: 30_000, acceptMs: 0 } });
      const raw = await ListenClient.open(gateway.url, { resourceSubscriptions: [A] }, { id: 'end' });
      const client = await connectModern(gateway.url);
      const subscription = await client.listen({ resourceSubscriptions: [A] });
      const exited = gateway.stop('SIGTERM', 10_000);
      expect(await within('the end of the subscription', subscription.closed)).toBe('graceful');
      await raw.events.untilEnded();
      expect(raw.events.messages.at(-1)).toEqual(endOf('end'));
      expect((await exited).code).toBe(0);
    });

    it('can be opened again while servers start, and misses no later update', async () => {
      const docs = await startSubscribableServer('x://a');
      const processes = await GatewayProcesses.start({ mcpServers: { docs: docs.http } });
      await processes.gateway.listed({ resources: ['docs'] });
      const before = await ListenClient.to(processes.gateway.url, A, 'x://a');
      await processes.restart('SIGTERM');
      await before.events.untilEnded();
      const after = await ListenClient.to(processes.gateway.url, A, 'x://a');
      expect(after.honoured).toEqual({ resourceSubscriptions: [A, 'x://a'] });
      sendUpdate(docs, 'x://a', { n: 1 });
      await until('the update', () => after.updates.some(({ n }) => n === 1));
    });
  });

  it('that is not read is closed, and does not slow others', async () => {
    const { docs, gateway } = await setUp({ limits: { streamStuckMs: 2000 } });
    const stuck = await ListenClient.to(gateway.url, A);
    stuck.events.pause();
    const reader = await ListenClient.to(gateway.url, A);
    const padding = 'x'.repeat(200_000);
    let sent = 0;
    await until('the stuck stream is closed', async () => {
      // The first hundred are more than the socket buffers of the kernel.
      const count = sent < 100 ? 10 : 1;
      for (let n = 0; n < count; n++) sendUpdate(docs, 'x://a', { n: ++sent, padding });
      await reader.untilUpdated(A, sent);
      return (await metricOf(gateway, 'gatehouse_stream_closes_total', { reason: 'stuck' })) === 1;
    });
    expect(reader.updates.map(({ n }) => n)).toEqual(Array.from({ length: sent }, (_, n) => n + 1));
    expect(await metricOf(gateway, 'mcp_listens_active')).toBe(1);
    expect(await metricOf(gateway, 'mcp_active_subscriptions')).toBe(1);
    const coalesced = await metricOf(gateway, 'mcp_notifications_total', {
      kind: 'resources/updated',
      outcome: 'coalesced',
    });
    expect(coalesced).toBeGreaterThan(0);
  });
});
