import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import { ADMIN_TOKEN, AdminClient } from '../kit/admin-client.js';
import {
  launchGateway,
  rewriteConfig,
  writeConfig,
  type Gateway,
  type GatewayConfig,
} from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import type { ScriptedBackend } from '../kit/scripted-backend.js';
import { Scrape } from '../kit/scrape.js';
import { hears, Listener, subscribable, told, update } from '../kit/subscribing.js';
import { until } from '../kit/until.js';

const A = 'resource://docs/x://a';
const B = 'resource://docs/x://b';
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const key = (id: string): object => ({ id, hash: hashOf(`key-of-${id}`), projects: ['*'] });
const of = (id: string): Record<string, string> => ({ authorization: `Bearer key-of-${id}` });

const statusOf = async (session: RawSession): Promise<number> => (await session.post(PING)).status;

describe('the subscriptions of a gateway that starts again', () => {
  let docs: ScriptedBackend;
  let config: string;
  let gateway: Gateway;

  beforeEach(async () => {
    docs = await subscribable('x://a', 'x://b');
    docs.template('x://t/{id}');
    config = writeConfig({
      mcpServers: { docs: docs.http },
      projects: { one: { servers: ['docs'] } },
      admin: { token: ADMIN_TOKEN },
    });
    await start();
    await gateway.listed({ resources: ['docs'] });
  });

  const journal = (): string => join(dirname(config), 'state', 'sessions.jsonl');
  const stored = (): string => readFileSync(journal(), 'utf8');

  async function start(changes?: GatewayConfig): Promise<void> {
    if (changes) rewriteConfig(config, changes);
    gateway = launchGateway(['--config', config]);
    await gateway.listening();
  }

  async function restart(signal: 'SIGTERM' | 'SIGKILL', changes?: GatewayConfig): Promise<void> {
    await gateway.stop(signal);
    await start(changes);
  }

  const listed = async (): Promise<unknown[]> =>
    (await new AdminClient(gateway).get('subscriptions')).json['subscriptions'] as unknown[];

  /** The session of a client, at the gateway of now. */
  const back = ({ session }: Listener, headers?: Record<string, string>): RawSession =>
    session.at(session.url.replace(/^http:\/\/[^/]+/, gateway.urlOf('/').slice(0, -1)), headers);

  const synced = (): Promise<unknown> =>
    until('the server was asked what it has', () => docs.countOf('resources/templates/list') >= 2);

  describe.each(['SIGTERM', 'SIGKILL'] as const)('after %s', (signal) => {
    it('are those of before: the client goes on in its session, and hears what it may have missed', async () => {
      const listener = await Listener.open(gateway.url);
      const id = await listener.subscribed(A);
      update(docs, 'x://a');
      await listener.hears(A);
      const before = await listed();
      await restart(signal);
      expect(await listed()).toEqual(before);
      expect(before).toMatchObject([{ id, server: 'docs', uri: A }]);

      const session = back(listener);
      await until('the list is there again', async () => (await session.list('resources')).length === 2);
      await hears(docs, '+x://a', 2);
      const again = await Listener.over(session, listener.events.lastId);
      await again.hears(A);
      update(docs, 'x://a', { n: 2 });
      await again.hears(A, 2);
      expect(again.updates).toEqual([{ uri: A }, { uri: A, n: 2 }]);
      expect(Number(again.events.lastId)).toBeGreaterThan(Number(listener.events.lastId));
      expect(told(docs)).toEqual(['+x://a', '+x://a']);

      await again.unsubscribe(A);
      expect(await listed()).toEqual([]);
      await hears(docs, '-x://a');
      await restart(signal);
      expect(await statusOf(back(listener))).toBe(404);
      await synced();
      expect(told(docs)).toEqual(['+x://a', '+x://a', '-x://a']);
    });

    it('are one at the server, whatever the number of clients', async () => {
      const listeners = await Promise.all([1, 2, 3].map(() => Listener.of(gateway.url, A)));
      await restart(signal);
      const again = await Promise.all(listeners.map((listener) => Listener.over(back(listener))));
      await Promise.all(again.map((listener) => listener.hears(A)));
      update(docs, 'x://a', { n: 1 });
      await Promise.all(again.map((listener) => listener.hears(A, 2)));
      for (const { updates } of again) expect(updates).toEqual([{ uri: A }, { uri: A, n: 1 }]);
      expect(told(docs)).toEqual(['+x://a', '+x://a']);
    });

    it('are those of the project that the session was opened in', async () => {
      const listener = await Listener.of(gateway.urlOf('/projects/one/mcp'), A);
      await restart(signal);
      const again = await Listener.over(back(listener));
      await again.hears(A);
      expect(await statusOf(listener.session.at(gateway.url))).toBe(200);
      const { json } = await new AdminClient(gateway).get('sessions');
      expect(json['sessions']).toMatchObject([{ project: 'one', client: { name: 'raw', version: '1' } }]);
    });
  });

  it('also take patterns, and instances of templates', async () => {
    const listener = await Listener.of(gateway.url, 'resource://docs/x://*', 'resource://docs/x://t/7');
    await restart('SIGKILL');
    await hears(docs, '+x://t/7', 2);
    await hears(docs, '+x://b', 2);
    const again = await Listener.over(back(listener));
    for (const uri of [A, B, 'resource://docs/x://t/7']) await again.hears(uri);
    update(docs, 'x://t/7', { n: 1 });
    await again.hears('resource://docs/x://t/7', 2);
    expect(again.updates).toHaveLength(4);
  });

  it.each([
    ['original', 'x://a'],
    ['underscore', 'docs_x___a'],
  ])('are told of by the names of the lists, in the style %s', async (resources, uri) => {
    await restart('SIGTERM', { naming: { resources } });
    await gateway.listed({ resources: ['docs'] });
    const listener = await Listener.of(gateway.url, uri);
    await restart('SIGKILL');
    const again = await Listener.over(back(listener));
    await again.hears(uri);
    const heard = again.uris.length;
    update(docs, 'x://a');
    await again.hears(uri, again.uris.filter((one) => one === uri).length + 1);
    expect(again.uris).toHaveLength(heard + 1);
  });

  it('come with the level of log messages that the client had set', async () => {
    const listener = await Listener.open(gateway.url);
    await listener.session.request('logging/setLevel', { level: 'warning' });
    await listener.subscribed(A);
    await restart('SIGTERM');
    const again = await Listener.over(back(listener));
    await again.hears(A);
    for (const level of ['info', 'error']) docs.announce('notifications/message', { level, data: level });
    update(docs, 'x://a');
    await again.hears(A, 2);
    const said = again.events.messages.filter(({ method }) => method === 'notifications/message');
    expect(said.map(({ params }) => params)).toEqual([{ level: 'error', data: 'error' }]);
  });

  it('survive one start after the other, without their client', async () => {
    const listener = await Listener.of(gateway.url, A);
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) await restart(signal);
    const again = await Listener.over(back(listener));
    await again.hears(A);
    expect(again.updates).toEqual([{ uri: A }]);
  });

  it('are gone when their time is over, and the server is not asked', async () => {
    const listener = await Listener.of(gateway.url, A);
    await restart('SIGTERM', { limits: { sessionIdleMs: 1 } });
    expect(await statusOf(back(listener))).toBe(404);
    expect(await listed()).toEqual([]);
    await synced();
    expect(told(docs)).toEqual(['+x://a']);
    await until(
      'nothing is kept of it',
      () => !stored().includes('"subscribe"') || stored().includes('"forget"'),
    );
  });

  it('end when their client does not come back', async () => {
    await Listener.of(gateway.url, A);
    // Longer than a start takes on a busy machine.
    await restart('SIGKILL', { limits: { sessionIdleMs: 8000 } });
    await hears(docs, '+x://a', 2);
    expect(await listed()).toHaveLength(1);
    await until('the server is told', () => told(docs).includes('-x://a'), 20_000);
    expect(await listed()).toEqual([]);
  });

  it('belong to who made them: to anybody else the session is not there', async () => {
    const auth = { apiKeys: [key('ann'), key('ben')] };
    await restart('SIGTERM', { auth });
    await gateway.listed({ resources: ['docs'] }, of('ann'));
    const ann = await Listener.open(gateway.url, { headers: of('ann') });
    await ann.subscribed(A);
    await restart('SIGKILL');
    expect(await statusOf(back(ann, of('ben')))).toBe(404);
    expect(await statusOf(back(ann, {}))).toBe(401);
    expect(await statusOf(back(ann))).toBe(200);
    expect(await statusOf(back(ann, of('ben')))).toBe(404);
    await (await Listener.over(back(ann))).hears(A);
  });

  it.each<[string, GatewayConfig]>([
    ['whose key was taken away', { auth: { apiKeys: [key('ben')] } }],
    ['whose key is another', { auth: { apiKeys: [{ ...key('ann'), hash: hashOf('another') }, key('ben')] } }],
    ['who need not say who they are any more', { auth: undefined }],
  ])('of a client %s are gone', async (_what, changes) => {
    await restart('SIGTERM', { auth: { apiKeys: [key('ann')] } });
    await gateway.listed({ resources: ['docs'] }, of('ann'));
    const ann = await Listener.open(gateway.url, { headers: of('ann') });
    await ann.subscribed(A);
    await restart('SIGTERM', changes);
    expect(await listed()).toEqual([]);
    expect(await statusOf(back(ann, of('ben')))).toBe(404);
  });

  it.each<[string, GatewayConfig]>([
    ['is disabled', { mcpServers: { docs: { command: 'node', enabled: false } } }],
    ['is not there any more', { mcpServers: {}, projects: {} }],
    ['is not in the project any more', { projects: { one: { servers: [] } } }],
    ['was seen through a project that is gone', { projects: {} }],
  ])('to a server that %s are gone', async (_what, changes) => {
    const listener = await Listener.of(gateway.urlOf('/projects/one/mcp'), A);
    await restart('SIGTERM', changes);
    expect(await listed()).toEqual([]);
    expect(await statusOf(listener.session.at(gateway.url))).toBe(404);
    expect(told(docs)).toEqual(['+x://a']);
  });

  it('count, as those do that were made since', async () => {
    const listener = await Listener.of(gateway.url, A);
    await restart('SIGTERM', { limits: { subscriptionsPerClient: 1, sessions: 1 } });
    const session = back(listener);
    await until('the list is there again', async () => (await session.list('resources')).length === 2);
    const again = await Listener.over(session);
    expect((await again.subscribe(B)).error).toMatchObject({ code: -31029 });
    await expect(RawSession.open(gateway.url)).rejects.toThrow('LimitExceeded');
    await session.end();
    expect(await listed()).toEqual([]);
    await Listener.of(gateway.url, B);
  });

  it('that ended in whatever way do not come back', async () => {
    const [deleted, ended, unsubscribed] = await Promise.all(
      [1, 2, 3].map(() => Listener.of(gateway.url, A)),
    );
    await deleted!.session.end();
    const admin = new AdminClient(gateway);
    const [{ id }] = (await listed()) as [{ id: string }];
    await admin.delete(`subscriptions/${id}`);
    await unsubscribed!.unsubscribe(A);
    await ended!.unsubscribe(A);
    expect(await listed()).toEqual([]);
    await restart('SIGTERM');
    for (const listener of [deleted, ended, unsubscribed]) expect(await statusOf(back(listener!))).toBe(404);
    expect(await listed()).toEqual([]);
  });

  it('are kept with no word that would open a session, for nobody else to read', async () => {
    const listener = await Listener.of(gateway.url, A);
    expect(stored()).toContain('x://a');
    expect(stored()).not.toContain(listener.session.id);
    expect(statSync(journal()).mode & 0o777).toBe(0o600);
  });

  it('are not written down by calls that have nothing to do with them', async () => {
    const { session } = await Listener.of(gateway.url, A);
    const before = stored();
    for (let n = 0; n < 20; n++) await session.list('tools');
    expect(stored()).toBe(before);
  });

  it('are lost with a journal that cannot be read, which is put aside, said and counted', async () => {
    const listener = await Listener.of(gateway.url, A);
    await gateway.stop();
    writeFileSync(journal(), 'something\nelse\n');
    await start();
    await gateway.logged({
      level: 'warn',
      message: 'some sessions are lost: their clients initialize again',
    });
    expect(await statusOf(back(listener))).toBe(404);
    const { text } = await exchange(gateway.urlOf('/metrics'));
    expect(new Scrape(text).value('gatehouse_session_write_failures_total')).toBe(1);
    await gateway.listed({ resources: ['docs'] });
    const next = await Listener.of(gateway.url, A);
    expect(readFileSync(`${journal()}.damaged`, 'utf8')).toBe('something\nelse\n');
    await restart('SIGKILL');
    await (await Listener.over(back(next))).hears(A);
  });
});
