import { resolve } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { ListenClient } from '../kit/listen-client.js';
import type { ModernOptions } from '../kit/modern-calls.js';
import { untilExited } from '../kit/processes.js';
import type { ScriptedLink } from '../kit/scripted-server/scripted-link.js';
import type { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { connectModern, type ClientV2 } from '../kit/sdk-clients.js';
import { startSubscribableServer } from '../kit/subscribed-client.js';
import { until } from '../kit/until.js';

const A = 'resource://docs/x://a';
const DOC = 'resource://modern/test://doc';
const UPDATED = 'notifications/resources/updated';
const IDLE_MS = 3000;
const MODERN = { command: process.execPath, args: [resolve('test/kit/modern-server/stdio.mjs'), 'reject'] };
const KEYS = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'grace'] as const;
type Key = (typeof KEYS)[number];

const bearer = (key: Key): Record<string, string> => ({ authorization: `Bearer ${key}` });
const update = (link: ScriptedLink, n: number): void =>
  link.send(JSON.stringify({ jsonrpc: '2.0', method: UPDATED, params: { uri: 'x://a', n } }));

describe('subscriptions/listen at a server with isolation: session', () => {
  let gateway: Gateway;
  let docs: ScriptedServer;

  beforeAll(async () => {
    docs = await startSubscribableServer('x://a');
    gateway = await startGateway({
      auth: { apiKeys: KEYS.map((id) => ({ id, hash: hashOf(id), projects: ['*'] })) },
      limits: { processesPerPrincipal: 2, sessionIdleMs: IDLE_MS },
      mcpServers: {
        docs: { ...docs.stdio(), isolation: 'session' },
        modern: { ...MODERN, isolation: 'session' },
      },
    });
    await gateway.listed({ resources: ['docs', 'modern'] }, bearer('dave'));
  });

  /** The links on which the server got this request, in order. */
  const linksOf = (method: string): ScriptedLink[] => docs.messages(method).map(({ link }) => link);

  /** Runs `open`, and returns the link on which the server got its subscription. */
  async function subscribedBy(open: () => Promise<unknown>): Promise<ScriptedLink> {
    const before = linksOf('resources/subscribe').length;
    await open();
    const links = linksOf('resources/subscribe').slice(before);
    expect(links).toHaveLength(1);
    return links[0]!;
  }

  const listen = (key: Key, meta: object = {}, uri = A): Promise<ListenClient> =>
    ListenClient.open(gateway.url, { resourceSubscriptions: [uri] }, { headers: bearer(key), meta });

  it('subscribes on the link of its principal, and gets the updates of that link alone', async () => {
    const updates: Record<string, unknown[]> = { alice: [], bob: [] };
    const open = async (key: 'alice' | 'bob'): Promise<void> => {
      const client = await connectModern(
        gateway.url,
        {},
        (sdk) => sdk.setNotificationHandler(UPDATED, ({ params }) => void updates[key]!.push(params.uri)),
        bearer(key),
      );
      const { honoredFilter } = await client.listen({ resourceSubscriptions: [A, 'x://none'] });
      expect(honoredFilter).toEqual({ resourceSubscriptions: [A] });
    };
    const ofAlice = await subscribedBy(() => open('alice'));
    const ofBob = await subscribedBy(() => open('bob'));
    expect(ofBob).not.toBe(ofAlice);
    update(ofAlice, 1);
    await until('alice has the update', () => updates['alice']!.length > 0);
    update(ofBob, 2);
    await until('bob has the update', () => updates['bob']!.length > 0);
    expect(updates).toEqual({ alice: [A], bob: [A] });
  });

  it('shares one upstream subscription with the other streams of its principal, until the last has ended', async () => {
    const streams: ListenClient[] = [];
    const link = await subscribedBy(async () => {
      for (let n = 0; n < 2; n++) streams.push(await listen('carol'));
    });
    const ofHandle = await subscribedBy(async () => {
      streams.push(await listen('carol', { 'io.gatehouse/session': 'h' }));
    });
    const [first, second, other] = streams as [ListenClient, ListenClient, ListenClient];
    expect(ofHandle).not.toBe(link);
    update(link, 1);
    await Promise.all([first, second].map((stream) => stream.untilUpdated(A)));
    first.close();
    update(link, 2);
    await second.untilUpdated(A, 2);
    update(ofHandle, 3);
    await other.untilUpdated(A);
    expect([first, second, other].map(({ updates }) => updates.map(({ n }) => n))).toEqual([
      [1],
      [1, 2],
      [3],
    ]);
    second.close();
    await until('the server is unsubscribed', () => linksOf('resources/unsubscribe').includes(link));
    expect(linksOf('resources/unsubscribe')).not.toContain(ofHandle);
  });

  it('keeps its process while the stream is open, and no longer', async () => {
    let stream: ListenClient | undefined;
    const link = await subscribedBy(async () => (stream = await listen('erin')));
    const { pid } = link;
    const idleUntil = performance.now() + 2 * IDLE_MS;
    await until('the idle time is over', () => performance.now() > idleUntil);
    expect(link.isOpen).toBe(true);
    update(link, 1);
    await stream!.untilUpdated(A);
    stream!.close();
    await untilExited([pid!]);
  });

  it('is subscribed over the next process when its process is lost, and gets one update', async () => {
    let stream: ListenClient | undefined;
    const link = await subscribedBy(async () => (stream = await listen('frank')));
    const next = await subscribedBy(async () => {
      process.kill(link.pid!, 'SIGKILL');
      await stream!.untilUpdated(A);
    });
    expect(next).not.toBe(link);
    update(next, 1);
    await stream!.untilUpdated(A, 2);
    expect(stream!.updates).toEqual([{ uri: A }, { uri: A, n: 1 }]);
  });

  it('is refused when its principal can have no further process', async () => {
    const streams: ListenClient[] = [];
    for (const handle of ['a', 'b']) streams.push(await listen('grace', { 'io.gatehouse/session': handle }));
    const before = linksOf('resources/subscribe').length;
    const options: ModernOptions = { headers: bearer('grace') };
    const refused = await ListenClient.refused(gateway.url, { resourceSubscriptions: [A] }, options);
    expect(refused).toMatchObject({ status: 200, error: { code: -31029, data: { limit: 2 } } });
    expect(linksOf('resources/subscribe')).toHaveLength(before);
    for (const stream of streams) stream.close();
  });

  it('gets the updates of a server of revision 2026-07-28 that the calls of its principal cause', async () => {
    const updates: Record<string, unknown[]> = { bob: [], dave: [] };
    const connect = async (key: 'bob' | 'dave'): Promise<ClientV2> => {
      const client = await connectModern(
        gateway.url,
        {},
        (sdk) => sdk.setNotificationHandler(UPDATED, ({ params }) => void updates[key]!.push(params.uri)),
        bearer(key),
      );
      const { honoredFilter } = await client.listen({ resourceSubscriptions: [DOC] });
      expect(honoredFilter).toEqual({ resourceSubscriptions: [DOC] });
      return client;
    };
    const [bob, dave] = [await connect('bob'), await connect('dave')];
    for (const client of [bob, dave, dave])
      await client.callTool({ name: 'modern__edit', arguments: { text: 'edited' } });
    await until('both have their updates', () => updates['dave']!.length > 1 && updates['bob']!.length > 0);
    expect(updates).toEqual({ bob: [DOC], dave: [DOC, DOC] });
  });
});
