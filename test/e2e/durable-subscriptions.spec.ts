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
/** As many starts as a stage has, on a busy machine. */
const STARTS_MS = 90_000;

/** What clients call the resource `x://a` of a server. */
const a = (server: string): string => `resource://${server}/x://a`;
const b = (server: string): string => `resource://${server}/x://b`;
const A = a('docs');
const B = b('docs');

const key = (id: string, word = `key-of-${id}`): object => ({ id, hash: hashOf(word), projects: ['*'] });
const of = (id: string): Record<string, string> => ({ authorization: `Bearer key-of-${id}` });

const statusOf = async (session: RawSession): Promise<number> => (await session.post(PING)).status;

type Servers<Name extends string> = Readonly<Record<Name, ScriptedServer>>;

async function serversOf<Name extends string>(...names: readonly Name[]): Promise<Servers<Name>> {
  const started = names.map(async (name) => [name, await startSubscribableServer('x://a', 'x://b')] as const);
  return Object.fromEntries(await Promise.all(started)) as Servers<Name>;
}

/** A gateway that knows what its servers have. */
async function begin(
  servers: Servers<string>,
  more: GatewayConfig = {},
  headers?: Record<string, string>,
): Promise<GatewayProcesses> {
  const mcpServers = Object.fromEntries(Object.entries(servers).map(([name, { http }]) => [name, http]));
  const lives = await GatewayProcesses.start({ mcpServers, admin: { token: ADMIN_TOKEN }, ...more });
  await lives.gateway.listed({ resources: Object.keys(servers) }, headers);
  return lives;
}

/** Waits until the server was asked what it has, since this began. */
async function synced(server: ScriptedServer, act: () => Promise<void>): Promise<void> {
  const before = server.countOf('resources/templates/list');
  await act();
  await until('the server is asked what it has', () => server.countOf('resources/templates/list') > before);
}

/** Waits until the gateway of now knows what the server has. */
const listsAgain = (session: RawSession, server: string): Promise<unknown> =>
  until('the list is there again', async () => {
    const uris = (await session.list('resources')).map(({ uri }) => uri);
    return uris.includes(a(server)) && uris.includes(b(server));
  });

describe.each<['SIGTERM' | 'SIGKILL', readonly ('SIGTERM' | 'SIGKILL')[]]>([
  ['SIGTERM', ['SIGTERM']],
  ['SIGKILL', ['SIGTERM', 'SIGKILL']],
])('the subscriptions of a gateway that starts again after %s', (signal, later) => {
  let lives: GatewayProcesses;
  let servers: Servers<'docs' | 'crowd' | 'team' | 'wide' | 'loud' | 'ended' | 'patient'>;
  /** Of the stage, by what becomes of it. */
  let listener: SubscribedClient;
  let before: unknown[];
  let id: string;
  let crowd: SubscribedClient[];
  let inProject: SubscribedClient;
  let wide: SubscribedClient;
  let loud: SubscribedClient;
  let ended: SubscribedClient[];
  let patient: SubscribedClient;

  beforeAll(async () => {
    servers = await serversOf('docs', 'crowd', 'team', 'wide', 'loud', 'ended', 'patient');
    servers.wide.template('x://t/{id}');
    lives = await begin(servers, { projects: { one: { servers: ['team'] } } });
    const { url } = lives.gateway;
    listener = await SubscribedClient.open(url);
    id = await listener.subscribed(A);
    sendUpdate(servers.docs, 'x://a');
    await listener.untilUpdated(A);
    before = await lives.subscriptions('docs');
    crowd = await Promise.all([1, 2, 3].map(() => SubscribedClient.of(url, a('crowd'))));
    inProject = await SubscribedClient.of(lives.gateway.urlOf('/projects/one/mcp'), a('team'));
    wide = await SubscribedClient.of(url, 'resource://wide/x://*', 'resource://wide/x://t/7');
    loud = await SubscribedClient.open(url);
    await loud.session.request('logging/setLevel', { level: 'warning' });
    await loud.subscribed(a('loud'));
    patient = await SubscribedClient.of(url, a('patient'));
    ended = await endings();
    await lives.restart(signal);
  }, STARTS_MS);

  /** Clients whose subscription ends in one way each. */
  async function endings(): Promise<SubscribedClient[]> {
    const uri = a('ended');
    const listeners = await Promise.all([1, 2, 3].map(() => SubscribedClient.open(lives.gateway.url)));
    const [deleted, byAdmin, unsubscribed] = listeners as [
      SubscribedClient,
      SubscribedClient,
      SubscribedClient,
    ];
    await deleted.subscribed(uri);
    const subscription = await byAdmin.subscribed(uri);
    await unsubscribed.subscribed(uri);
    await deleted.session.end();
    await lives.admin.delete(`subscriptions/${subscription}`);
    await unsubscribed.unsubscribe(uri);
    expect(await lives.subscriptions('ended')).toEqual([]);
    return listeners;
  }

  it('are one at the server, whatever the number of clients', async () => {
    const again = await Promise.all(crowd.map((one) => SubscribedClient.onSession(lives.sessionOf(one))));
    await Promise.all(again.map((one) => one.untilUpdated(a('crowd'))));
    sendUpdate(servers.crowd, 'x://a', { n: 1 });
    await Promise.all(again.map((one) => one.untilUpdated(a('crowd'), 2)));
    for (const { updates } of again)
      expect(updates).toEqual([{ uri: a('crowd') }, { uri: a('crowd'), n: 1 }]);
    expect(subscriptionRequests(servers.crowd)).toEqual(['+x://a', '+x://a']);
  });

  it('are those of the project that the session was opened in', async () => {
    const again = await SubscribedClient.onSession(lives.sessionOf(inProject));
    await again.untilUpdated(a('team'));
    expect(await statusOf(inProject.session.at(lives.gateway.url))).toBe(200);
    const sessions = (await lives.admin.get('sessions')).json['sessions'] as { project?: string }[];
    expect(sessions.filter(({ project }) => project !== undefined)).toMatchObject([
      { project: 'one', client: { name: 'raw', version: '1' } },
    ]);
  });

  it('also take patterns, and instances of templates', async () => {
    await untilRequested(servers.wide, '+x://t/7', 2);
    await untilRequested(servers.wide, '+x://b', 2);
    const again = await SubscribedClient.onSession(lives.sessionOf(wide));
    for (const uri of [a('wide'), b('wide'), 'resource://wide/x://t/7']) await again.untilUpdated(uri);
    sendUpdate(servers.wide, 'x://t/7', { n: 1 });
    await again.untilUpdated('resource://wide/x://t/7', 2);
    expect(again.updates).toHaveLength(4);
  });

  it('come with the level of log messages that the client had set', async () => {
    const again = await SubscribedClient.onSession(lives.sessionOf(loud));
    await again.untilUpdated(a('loud'));
    for (const level of ['info', 'error'])
      servers.loud.broadcast('notifications/message', { level, data: level });
    sendUpdate(servers.loud, 'x://a');
    await again.untilUpdated(a('loud'), 2);
    const said = again.events.messages.filter(({ method }) => method === 'notifications/message');
    expect(said.map(({ params }) => params)).toEqual([{ level: 'error', data: 'error' }]);
  });

  it('that ended in whatever way do not come back', async () => {
    for (const one of ended) expect(await statusOf(lives.sessionOf(one))).toBe(404);
    expect(await lives.subscriptions('ended')).toEqual([]);
  });

  it('are kept with no word that would open a session, for nobody else to read', async () => {
    const next = await SubscribedClient.of(lives.gateway.url, b('ended'));
    expect(lives.stored).toContain('x://b');
    expect(lives.stored).not.toContain(next.session.id);
    expect(statSync(lives.journal).mode & 0o777).toBe(0o600);
  });

  it('are not written down by calls that have nothing to do with them', async () => {
    const { session } = await SubscribedClient.of(lives.gateway.url, b('ended'));
    const { stored } = lives;
    for (let n = 0; n < 20; n++) await session.list('tools');
    expect(lives.stored).toBe(stored);
  });

  it('are those of before: the client goes on in its session, and hears what it may have missed', async () => {
    const { docs } = servers;
    expect(await lives.subscriptions('docs')).toEqual(before);
    expect(before).toMatchObject([{ id, server: 'docs', uri: A }]);

    const session = lives.sessionOf(listener);
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
    expect(await lives.subscriptions('docs')).toEqual([]);
    await untilRequested(docs, '-x://a');
  });

  describe(`and once more after ${later.join(', ')}`, () => {
    beforeAll(async () => {
      for (const next of later) await synced(servers.docs, () => lives.restart(next));
    }, STARTS_MS);

    it('are not those that ended meanwhile', async () => {
      expect(await statusOf(lives.sessionOf(listener))).toBe(404);
      expect(subscriptionRequests(servers.docs)).toEqual(['+x://a', '+x://a', '-x://a']);
    });

    it('survive one start after the other, without their client', async () => {
      const again = await SubscribedClient.onSession(lives.sessionOf(patient));
      await again.untilUpdated(a('patient'));
      expect(again.updates).toEqual([{ uri: a('patient') }]);
    });
  });
});

describe('the subscriptions of a gateway that starts again with another configuration', () => {
  let lives: GatewayProcesses;
  let servers: Servers<'docs' | 'disabled' | 'removed' | 'narrowed' | 'hidden'>;
  /** By whose key, or by which server. */
  const listeners = new Map<string, SubscribedClient>();
  let kept: string;

  beforeAll(async () => {
    servers = await serversOf('docs', 'disabled', 'removed', 'narrowed', 'hidden');
    const { docs, narrowed, hidden } = servers;
    const projects = {
      one: { servers: ['disabled', 'removed', 'narrowed'] },
      other: { servers: ['hidden'] },
    };
    const auth = { apiKeys: ['ann', 'ben', 'keyless', 'rekeyed'].map((id) => key(id)) };
    lives = await begin(servers, { projects, auth }, of('ann'));
    for (const who of ['ann', 'keyless', 'rekeyed']) {
      const listener = await SubscribedClient.open(lives.gateway.url, { headers: of(who) });
      const id = await listener.subscribed(A);
      if (who === 'ann') kept = id;
      listeners.set(who, listener);
    }
    for (const server of ['disabled', 'removed', 'narrowed', 'hidden']) {
      const url = lives.gateway.urlOf(`/projects/${server === 'hidden' ? 'other' : 'one'}/mcp`);
      const listener = await SubscribedClient.open(url, { headers: of('ann') });
      await listener.subscribed(a(server));
      listeners.set(server, listener);
    }
    await lives.restart('SIGTERM', {
      mcpServers: {
        docs: docs.http,
        narrowed: narrowed.http,
        hidden: hidden.http,
        disabled: { command: 'node', enabled: false },
      },
      projects: { one: { servers: ['disabled'] } },
      auth: { apiKeys: [key('ann'), key('ben'), key('rekeyed', 'another')] },
    });
    await lives.gateway.listed({ resources: ['docs', 'narrowed', 'hidden'] }, of('ann'));
  }, STARTS_MS);

  it.each([
    ['whose key was taken away', 'keyless'],
    ['whose key is another', 'rekeyed'],
  ])('of a client %s are gone', async (_what, who) => {
    expect(await lives.subscriptions()).toMatchObject([{ id: kept }]);
    expect(await statusOf(lives.sessionOf(listeners.get(who)!, of('ben')))).toBe(404);
  });

  it.each([
    ['is disabled', 'disabled'],
    ['is not there any more', 'removed'],
    ['is not in the project any more', 'narrowed'],
    ['was seen through a project that is gone', 'hidden'],
  ] as const)('to a server that %s are gone', async (_what, server) => {
    expect(await lives.subscriptions(server)).toEqual([]);
    expect(await statusOf(listeners.get(server)!.session.at(lives.gateway.url))).toBe(404);
    expect(subscriptionRequests(servers[server])).toEqual(['+x://a']);
  });

  it('belong to who made them: to anybody else the session is not there', async () => {
    const ann = listeners.get('ann')!;
    expect(await statusOf(lives.sessionOf(ann, of('ben')))).toBe(404);
    expect(await statusOf(lives.sessionOf(ann, {}))).toBe(401);
    expect(await statusOf(lives.sessionOf(ann))).toBe(200);
    expect(await statusOf(lives.sessionOf(ann, of('ben')))).toBe(404);
    await (await SubscribedClient.onSession(lives.sessionOf(ann))).untilUpdated(A);
  });

  describe('in which nobody need say who they are any more', () => {
    beforeAll(() => lives.restart('SIGTERM', { auth: undefined }), STARTS_MS);

    it('are gone', async () => {
      expect(await lives.subscriptions()).toEqual([]);
      expect(await statusOf(lives.sessionOf(listeners.get('ann')!, of('ben')))).toBe(404);
    });
  });
});

describe('the subscriptions of a gateway that starts again', () => {
  let abandoned: GatewayProcesses;
  let docs: ScriptedServer;
  let revived: unknown[];

  // Whose client does not come back; that takes its time, in which the other tests run.
  beforeAll(async () => {
    const servers = await serversOf('docs');
    ({ docs } = servers);
    const start = performance.now();
    abandoned = await begin(servers);
    // Longer than the next start takes, on whatever machine this is.
    const sessionIdleMs = 1500 + 2 * Math.round(performance.now() - start);
    await SubscribedClient.of(abandoned.gateway.url, A);
    await abandoned.restart('SIGKILL', { limits: { sessionIdleMs } });
    await untilRequested(docs, '+x://a', 2);
    revived = await abandoned.subscriptions();
  }, STARTS_MS);

  it.each([
    ['original', 'x://a'],
    ['underscore', 'docs_x___a'],
  ])('are told of by the names of the lists, in the style %s', async (resources, uri) => {
    const servers = await serversOf('docs');
    const lives = await begin(servers, { naming: { resources } });
    const listener = await SubscribedClient.of(lives.gateway.url, uri);
    await lives.restart('SIGKILL');
    const again = await SubscribedClient.onSession(lives.sessionOf(listener));
    await again.untilUpdated(uri);
    const heard = again.uris.length;
    sendUpdate(servers.docs, 'x://a');
    await again.untilUpdated(uri, again.uris.filter((one) => one === uri).length + 1);
    expect(again.uris).toHaveLength(heard + 1);
  });

  it('are gone when their time is over, and the server is not asked', async () => {
    const servers = await serversOf('docs');
    const lives = await begin(servers);
    const listener = await SubscribedClient.of(lives.gateway.url, A);
    await synced(servers.docs, () => lives.restart('SIGTERM', { limits: { sessionIdleMs: 1 } }));
    expect(await statusOf(lives.sessionOf(listener))).toBe(404);
    expect(await lives.subscriptions()).toEqual([]);
    expect(subscriptionRequests(servers.docs)).toEqual(['+x://a']);
    await until(
      'nothing is kept of it',
      () => !lives.stored.includes('"subscribe"') || lives.stored.includes('"forget"'),
    );
  });

  it('count, as those do that were made since', async () => {
    const lives = await begin(await serversOf('docs'));
    const listener = await SubscribedClient.of(lives.gateway.url, A);
    await lives.restart('SIGTERM', { limits: { subscriptionsPerClient: 1, sessions: 1 } });
    const session = lives.sessionOf(listener);
    await listsAgain(session, 'docs');
    const again = await SubscribedClient.onSession(session);
    expect((await again.subscribe(B)).error).toMatchObject({ code: -31029 });
    await expect(RawSession.open(lives.gateway.url)).rejects.toThrow('LimitExceeded');
    await session.end();
    expect(await lives.subscriptions()).toEqual([]);
    await SubscribedClient.of(lives.gateway.url, B);
  });

  it('are lost with a journal that cannot be read, which is put aside, said and counted', async () => {
    const lives = await begin(await serversOf('docs'));
    const listener = await SubscribedClient.of(lives.gateway.url, A);
    await lives.gateway.stop();
    writeFileSync(lives.journal, 'something\nelse\n');
    await lives.start();
    await lives.gateway.logged({
      level: 'warn',
      message: 'some session records are damaged: their clients have to initialize again',
    });
    expect(await statusOf(lives.sessionOf(listener))).toBe(404);
    const { text } = await exchange(lives.gateway.urlOf('/metrics'));
    expect(new Scrape(text).value('gatehouse_session_write_failures_total')).toBe(1);
    await lives.gateway.listed({ resources: ['docs'] });
    const next = await SubscribedClient.of(lives.gateway.url, A);
    expect(readFileSync(`${lives.journal}.damaged`, 'utf8')).toBe('something\nelse\n');
    await lives.restart('SIGKILL');
    await (await SubscribedClient.onSession(lives.sessionOf(next))).untilUpdated(A);
  });

  it('end when their client does not come back', async () => {
    expect(revived).toHaveLength(1);
    await until('the server is told', () => subscriptionRequests(docs).includes('-x://a'), 20_000);
    expect(await abandoned.subscriptions()).toEqual([]);
  });
});
