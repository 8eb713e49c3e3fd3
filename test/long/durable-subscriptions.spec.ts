import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import { ADMIN_TOKEN } from '../kit/admin-client.js';
import type { GatewayConfig } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { GatewayProcesses } from '../kit/gateway-processes.js';
import { RawSession } from '../kit/raw-session.js';
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

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
/** Time for all starts of one describe block on a busy machine. */
const STARTS_MS = 90_000;

/** The public URI of the resource `x://a` of a server. */
const a = (server: string): string => `resource://${server}/x://a`;
const b = (server: string): string => `resource://${server}/x://b`;
const A = a('docs');
const B = b('docs');

const key = (id: string, word = `key-of-${id}`): object => ({ id, hash: hashOf(word), projects: ['*'] });
const keyHeader = (id: string): Record<string, string> => ({ authorization: `Bearer key-of-${id}` });

const statusOf = async (session: RawSession): Promise<number> => (await session.post(PING)).status;

type Servers<Name extends string> = Readonly<Record<Name, ScriptedServer>>;

async function serversOf<Name extends string>(...names: readonly Name[]): Promise<Servers<Name>> {
  const started = names.map(async (name) => [name, await startSubscribableServer('x://a', 'x://b')] as const);
  return Object.fromEntries(await Promise.all(started)) as Servers<Name>;
}

/** Starts a gateway and waits until its servers are listed. */
async function startListed(
  servers: Servers<string>,
  more: GatewayConfig = {},
  headers?: Record<string, string>,
): Promise<GatewayProcesses> {
  const mcpServers = Object.fromEntries(Object.entries(servers).map(([name, { http }]) => [name, http]));
  const processes = await GatewayProcesses.start({ mcpServers, admin: { token: ADMIN_TOKEN }, ...more });
  await processes.gateway.listed({ resources: Object.keys(servers) }, headers);
  return processes;
}

/** Runs `act`, and waits for the next sync of the server. */
async function synced(server: ScriptedServer, act: () => Promise<void>): Promise<void> {
  const before = server.countOf('resources/templates/list');
  await act();
  await until('the gateway syncs the server', () => server.countOf('resources/templates/list') > before);
}

/** Waits until the current process lists the resources of the server. */
const listsAgain = (session: RawSession, server: string): Promise<unknown> =>
  until('the resources are listed again', async () => {
    const uris = (await session.list('resources')).map(({ uri }) => uri);
    return uris.includes(a(server)) && uris.includes(b(server));
  });

describe.each<['SIGTERM' | 'SIGKILL', readonly ('SIGTERM' | 'SIGKILL')[]]>([
  ['SIGTERM', ['SIGTERM']],
  ['SIGKILL', ['SIGTERM', 'SIGKILL']],
])('subscriptions after a restart by %s', (signal, later) => {
  let processes: GatewayProcesses;
  let servers: Servers<'docs' | 'shared' | 'team' | 'wide' | 'loud' | 'ended' | 'patient'>;
  /** Clients, named after what happens to their subscriptions. */
  let listener: SubscribedClient;
  let before: unknown[];
  let id: string;
  let shared: SubscribedClient[];
  let inProject: SubscribedClient;
  let wide: SubscribedClient;
  let loud: SubscribedClient;
  let ended: SubscribedClient[];
  let patient: SubscribedClient;

  beforeAll(async () => {
    servers = await serversOf('docs', 'shared', 'team', 'wide', 'loud', 'ended', 'patient');
    servers.wide.template('x://t/{id}');
    processes = await startListed(servers, { projects: { one: { servers: ['team'] } } });
    const { url } = processes.gateway;
    listener = await SubscribedClient.open(url);
    id = await listener.subscribed(A);
    sendUpdate(servers.docs, 'x://a');
    await listener.untilUpdated(A);
    before = await processes.subscriptions('docs');
    shared = await Promise.all([1, 2, 3].map(() => SubscribedClient.of(url, a('shared'))));
    inProject = await SubscribedClient.of(processes.gateway.urlOf('/projects/one/mcp'), a('team'));
    wide = await SubscribedClient.of(url, 'resource://wide/x://*', 'resource://wide/x://t/7');
    loud = await SubscribedClient.open(url);
    await loud.session.request('logging/setLevel', { level: 'warning' });
    await loud.subscribed(a('loud'));
    patient = await SubscribedClient.of(url, a('patient'));
    ended = await endSubscriptions();
    await processes.restart(signal);
  }, STARTS_MS);

  /** Clients whose subscription ends by DELETE, by an administrator and by unsubscribe. */
  async function endSubscriptions(): Promise<SubscribedClient[]> {
    const uri = a('ended');
    const listeners = await Promise.all([1, 2, 3].map(() => SubscribedClient.open(processes.gateway.url)));
    const [deleted, byAdmin, unsubscribed] = listeners as [
      SubscribedClient,
      SubscribedClient,
      SubscribedClient,
    ];
    await deleted.subscribed(uri);
    const subscription = await byAdmin.subscribed(uri);
    await unsubscribed.subscribed(uri);
    await deleted.session.end();
    await processes.admin.delete(`subscriptions/${subscription}`);
    await unsubscribed.unsubscribe(uri);
    expect(await processes.subscriptions('ended')).toEqual([]);
    return listeners;
  }

  it('share one upstream subscription of several clients', async () => {
    const again = await Promise.all(
      shared.map((one) => SubscribedClient.onSession(processes.sessionOf(one))),
    );
    await Promise.all(again.map((one) => one.untilUpdated(a('shared'))));
    sendUpdate(servers.shared, 'x://a', { n: 1 });
    await Promise.all(again.map((one) => one.untilUpdated(a('shared'), 2)));
    for (const { updates } of again)
      expect(updates).toEqual([{ uri: a('shared') }, { uri: a('shared'), n: 1 }]);
    expect(subscriptionRequests(servers.shared)).toEqual(['+x://a', '+x://a']);
  });

  it('are restored in the project of their session', async () => {
    const again = await SubscribedClient.onSession(processes.sessionOf(inProject));
    await again.untilUpdated(a('team'));
    expect(await statusOf(inProject.session.at(processes.gateway.url))).toBe(200);
    const sessions = (await processes.admin.get('sessions')).json['sessions'] as { project?: string }[];
    expect(sessions.filter(({ project }) => project !== undefined)).toMatchObject([
      { project: 'one', client: { name: 'raw', version: '1' } },
    ]);
  });

  it('include patterns and instances of templates', async () => {
    await untilRequested(servers.wide, '+x://t/7', 2);
    await untilRequested(servers.wide, '+x://b', 2);
    const again = await SubscribedClient.onSession(processes.sessionOf(wide));
    for (const uri of [a('wide'), b('wide'), 'resource://wide/x://t/7']) await again.untilUpdated(uri);
    sendUpdate(servers.wide, 'x://t/7', { n: 1 });
    await again.untilUpdated('resource://wide/x://t/7', 2);
    expect(again.updates).toHaveLength(4);
  });

  it('come back with the log level of their session', async () => {
    const again = await SubscribedClient.onSession(processes.sessionOf(loud));
    await again.untilUpdated(a('loud'));
    for (const level of ['info', 'error'])
      servers.loud.broadcast('notifications/message', { level, data: level });
    sendUpdate(servers.loud, 'x://a');
    await again.untilUpdated(a('loud'), 2);
    const logMessages = again.events.messages.filter(({ method }) => method === 'notifications/message');
    expect(logMessages.map(({ params }) => params)).toEqual([{ level: 'error', data: 'error' }]);
  });

  it('that ended before the restart do not come back, but sessions without subscriptions do', async () => {
    const statuses = await Promise.all(ended.map((one) => statusOf(processes.sessionOf(one))));
    expect([statuses, await processes.subscriptions('ended')]).toEqual([[404, 200, 200], []]);
  });

  it('are stored without session ids, readable by the owner of the file only', async () => {
    const next = await SubscribedClient.of(processes.gateway.url, b('ended'));
    expect(processes.stored).toContain('x://b');
    expect(processes.stored).not.toContain(next.session.id);
    expect(statSync(processes.journal).mode & 0o777).toBe(0o600);
  });

  it('are not written again by unrelated calls', async () => {
    const { session } = await SubscribedClient.of(processes.gateway.url, b('ended'));
    const { stored } = processes;
    for (let n = 0; n < 20; n++) await session.list('tools');
    expect(processes.stored).toBe(stored);
  });

  it('keep their ids: the client continues its session and gets an update for missed changes', async () => {
    const { docs } = servers;
    expect(await processes.subscriptions('docs')).toEqual(before);
    expect(before).toMatchObject([{ id, server: 'docs', uri: A }]);

    const session = processes.sessionOf(listener);
    await listsAgain(session, 'docs');
    await untilRequested(docs, '+x://a', 2);
    const again = await SubscribedClient.onSession(session, listener.events.lastId);
    await again.untilUpdated(A);
    sendUpdate(docs, 'x://a', { n: 2 });
    await again.untilUpdated(A, 2);
    expect(again.updates).toEqual([{ uri: A }, { uri: A, n: 2 }]);
    expect(Number(again.events.lastId)).toBeGreaterThan(Number(listener.events.lastId));
    expect(subscriptionRequests(docs)).toEqual(['+x://a', '+x://a']);

    await again.unsubscribe(A);
    expect(await processes.subscriptions('docs')).toEqual([]);
    await untilRequested(docs, '-x://a');
  });

  describe(`and after another ${later.join(', ')}`, () => {
    beforeAll(async () => {
      for (const next of later) await synced(servers.docs, () => processes.restart(next));
    }, STARTS_MS);

    it('do not include those that ended in between', async () => {
      expect(await processes.subscriptions('docs')).toEqual([]);
      expect(subscriptionRequests(servers.docs)).toEqual(['+x://a', '+x://a', '-x://a']);
    });

    it('survive several restarts without their client', async () => {
      const again = await SubscribedClient.onSession(processes.sessionOf(patient));
      await again.untilUpdated(a('patient'));
      expect(again.updates).toEqual([{ uri: a('patient') }]);
    });
  });
});

describe('subscriptions after a restart with another configuration', () => {
  let processes: GatewayProcesses;
  let servers: Servers<'docs' | 'disabled' | 'removed' | 'narrowed' | 'hidden'>;
  /** By API key or by server. */
  const listeners = new Map<string, SubscribedClient>();
  let kept: string;
  beforeAll(async () => {
    servers = await serversOf('docs', 'disabled', 'removed', 'narrowed', 'hidden');
    const { docs, narrowed, hidden } = servers;
    const disabled = { ...servers.disabled.http, enabled: false };
    const projects = {
      one: { servers: ['disabled', 'removed', 'narrowed'] },
      other: { servers: ['hidden'] },
    };
    const auth = { apiKeys: ['ann', 'ben', 'keyless', 'rekeyed'].map((id) => key(id)) };
    processes = await startListed(servers, { projects, auth }, keyHeader('ann'));
    for (const who of ['ann', 'keyless', 'rekeyed']) {
      const listener = await SubscribedClient.open(processes.gateway.url, { headers: keyHeader(who) });
      const id = await listener.subscribed(A);
      if (who === 'ann') kept = id;
      listeners.set(who, listener);
    }
    for (const server of ['disabled', 'removed', 'narrowed', 'hidden']) {
      const url = processes.gateway.urlOf(`/projects/${server === 'hidden' ? 'other' : 'one'}/mcp`);
      const listener = await SubscribedClient.open(url, { headers: keyHeader('ann') });
      await listener.subscribed(a(server));
      listeners.set(server, listener);
    }
    await processes.restart('SIGTERM', {
      mcpServers: { docs: docs.http, narrowed: narrowed.http, hidden: hidden.http, disabled },
      projects: { one: { servers: ['disabled'] } },
      auth: { apiKeys: [key('ann'), key('ben'), key('rekeyed', 'another')] },
    });
    await processes.gateway.listed({ resources: ['docs', 'narrowed', 'hidden'] }, keyHeader('ann'));
  }, STARTS_MS);

  it.each([
    ['whose key was removed', 'keyless'],
    ['whose key was replaced', 'rekeyed'],
  ])('of a client %s are dropped', async (_what, who) => {
    expect(await processes.subscriptions('docs')).toMatchObject([{ id: kept }]);
    expect(await statusOf(processes.sessionOf(listeners.get(who)!, keyHeader('ben')))).toBe(404);
  });

  it.each([
    ['was removed', 'removed'],
    ['was removed from the project', 'narrowed'],
    ['belonged to a removed project', 'hidden'],
  ] as const)('to a server that %s are gone', async (_what, server) => {
    expect(await processes.subscriptions(server)).toEqual([]);
    expect(await statusOf(listeners.get(server)!.session.at(processes.gateway.url))).toBe(200);
    expect(subscriptionRequests(servers[server])).toEqual(['+x://a']);
  });

  it('to a disabled server report a deletion, and one update when the server is enabled', async () => {
    const client = await SubscribedClient.onSession(processes.sessionOf(listeners.get('disabled')!));
    const uri = a('disabled');
    await client.untilUpdated(uri);
    expect((await processes.admin.post('servers/disabled/enable')).status).toBe(200);
    await client.untilUpdated(uri, 2);
    expect(client.updates).toEqual([{ uri, _meta: { 'io.gatehouse/state': 'deleted' } }, { uri }]);
  });

  it('belong to their principal: with another key the session is unknown', async () => {
    const ann = listeners.get('ann')!;
    expect(await statusOf(processes.sessionOf(ann, keyHeader('ben')))).toBe(404);
    expect(await statusOf(processes.sessionOf(ann, {}))).toBe(401);
    expect(await statusOf(processes.sessionOf(ann))).toBe(200);
    expect(await statusOf(processes.sessionOf(ann, keyHeader('ben')))).toBe(404);
    await (await SubscribedClient.onSession(processes.sessionOf(ann))).untilUpdated(A);
  });

  describe('without authentication', () => {
    beforeAll(() => processes.restart('SIGTERM', { auth: undefined }), STARTS_MS);

    it('are dropped', async () => {
      expect(await processes.subscriptions()).toEqual([]);
      expect(await statusOf(processes.sessionOf(listeners.get('ann')!, keyHeader('ben')))).toBe(404);
    });
  });
});

describe('subscriptions after a restart', () => {
  let abandoned: GatewayProcesses;
  let docs: ScriptedServer;
  let revived: unknown[];

  // Its client does not come back. The session expires while the other tests run.
  beforeAll(async () => {
    const servers = await serversOf('docs');
    ({ docs } = servers);
    const start = performance.now();
    abandoned = await startListed(servers);
    // Longer than the next start takes on a slow machine.
    const sessionIdleMs = 1500 + 2 * Math.round(performance.now() - start);
    await SubscribedClient.of(abandoned.gateway.url, A);
    await abandoned.restart('SIGKILL', { limits: { sessionIdleMs } });
    await untilRequested(docs, '+x://a', 2);
    revived = await abandoned.subscriptions();
  }, STARTS_MS);

  it.each([
    ['original', 'x://a'],
    ['underscore', 'docs_x___a'],
  ])('get updates with the public URI of the naming style %s', async (resources, uri) => {
    const servers = await serversOf('docs');
    const processes = await startListed(servers, { naming: { resources } });
    const listener = await SubscribedClient.of(processes.gateway.url, uri);
    await processes.restart('SIGKILL');
    const again = await SubscribedClient.onSession(processes.sessionOf(listener));
    await again.untilUpdated(uri);
    const before = again.uris.length;
    sendUpdate(servers.docs, 'x://a');
    await again.untilUpdated(uri, again.uris.filter((one) => one === uri).length + 1);
    expect(again.uris).toHaveLength(before + 1);
  });

  it('are dropped when their session has expired, without a request to the server', async () => {
    const servers = await serversOf('docs');
    const processes = await startListed(servers);
    const listener = await SubscribedClient.of(processes.gateway.url, A);
    await synced(servers.docs, () => processes.restart('SIGTERM', { limits: { sessionIdleMs: 1 } }));
    expect(await statusOf(processes.sessionOf(listener))).toBe(404);
    expect(await processes.subscriptions()).toEqual([]);
    expect(subscriptionRequests(servers.docs)).toEqual(['+x://a']);
    await until(
      'the record is removed',
      () => !processes.stored.includes('"subscribe"') || processes.stored.includes('"forget"'),
    );
  });

  it('count towards the limits as new ones do', async () => {
    const processes = await startListed(await serversOf('docs'));
    const listener = await SubscribedClient.of(processes.gateway.url, A);
    await processes.restart('SIGTERM', { limits: { subscriptionsPerClient: 1, sessions: 1 } });
    const session = processes.sessionOf(listener);
    await listsAgain(session, 'docs');
    const again = await SubscribedClient.onSession(session);
    expect((await again.subscribe(B)).error).toMatchObject({ code: -31029 });
    await expect(RawSession.open(processes.gateway.url)).rejects.toThrow('LimitExceeded');
    await session.end();
    expect(await processes.subscriptions()).toEqual([]);
    await SubscribedClient.of(processes.gateway.url, B);
  });

  it('are lost with an unreadable journal, which is renamed, logged and counted', async () => {
    const processes = await startListed(await serversOf('docs'));
    const listener = await SubscribedClient.of(processes.gateway.url, A);
    await processes.gateway.stop();
    writeFileSync(processes.journal, 'something\nelse\n');
    await processes.start();
    await processes.gateway.logged({
      level: 'warn',
      message: 'some session records are damaged: their clients have to initialize again',
    });
    expect(await statusOf(processes.sessionOf(listener))).toBe(404);
    const { text } = await exchange(processes.gateway.urlOf('/metrics'));
    expect(new Scrape(text).value('gatehouse_session_write_failures_total')).toBe(1);
    await processes.gateway.listed({ resources: ['docs'] });
    const next = await SubscribedClient.of(processes.gateway.url, A);
    expect(readFileSync(`${processes.journal}.damaged`, 'utf8')).toBe('something\nelse\n');
    await processes.restart('SIGKILL');
    await (await SubscribedClient.onSession(processes.sessionOf(next))).untilUpdated(A);
  });

  it('end when their client does not come back', async () => {
    expect(revived).toHaveLength(1);
    await untilRequested(docs, '-x://a');
    expect(await abandoned.subscriptions()).toEqual([]);
  });
});
