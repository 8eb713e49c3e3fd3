import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import { ADMIN_TOKEN } from '../kit/admin-client.js';
import { onCleanup } from '../kit/cleanup.js';
import type { Events } from '../kit/events.js';
import { GatewayProcesses } from '../kit/gateway-processes.js';
import { RawSession, textIn, type SessionOptions } from '../kit/raw-session.js';
import { connectV1, connectV2, type ClientV1, type ClientV2 } from '../kit/sdk-clients.js';
import { text, type ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { SubscribedClient, sendUpdate, startSubscribableServer } from '../kit/subscribed-client.js';
import { TcpProxy } from '../kit/tcp-proxy.js';
import { until } from '../kit/until.js';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const A = 'resource://docs/x://a';
const STARTS_MS = 60_000;
/** A session id that another gateway gave out. */
const FOREIGN_ID = 'jaMedGsldUw-8H3dS_TyXDmhGrArY4mb';

const WAITING_CALL = { name: 'docs__wait', _meta: { progressToken: 1 } };
const QUESTION = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } };

const keysOf = (...ids: readonly string[]): object => ({
  apiKeys: ids.map((id) => ({ id, hash: hashOf(`key-of-${id}`), projects: ['*'] })),
});
const keyHeader = (id: string): Record<string, string> => ({ authorization: `Bearer key-of-${id}` });
const other = (id: string): string => (id === 'ann' ? 'ben' : 'ann');

const statusOf = async (session: RawSession, headers?: Record<string, string>): Promise<number> =>
  (await session.post(PING, headers)).status;

/** The number of updates that each SDK client got. */
const updates = [0, 0];

function prepareV1(client: ClientV1): void {
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, () => void updates[0]!++);
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }));
}

function prepareV2(client: ClientV2): void {
  client.setNotificationHandler('notifications/resources/updated', () => void updates[1]!++);
  client.setRequestHandler('elicitation/create', () => ({ action: 'decline' }));
}

describe('sessions', () => {
  let docs: ScriptedServer;
  let processes: GatewayProcesses;
  let proxy: TcpProxy;
  /** Ten sessions: half of them of ann, the others of ben. */
  let sessions: { readonly owner: string; readonly session: RawSession }[];
  let before: unknown;
  let capable: RawSession;
  let leveled: RawSession;
  let sdkClients: (ClientV1 | ClientV2)[];
  let revoked: RawSession;

  const open = (owner: string, path = '/mcp', options: SessionOptions = {}): Promise<RawSession> =>
    RawSession.open(proxy.urlOf(path), { headers: keyHeader(owner), ...options });

  const log = (level: string, data: string): void => docs.broadcast('notifications/message', { level, data });

  /** What administrators see of the sessions of ann and ben. */
  async function listedSessions(): Promise<unknown> {
    const { json } = await processes.admin.get('sessions?limit=100');
    const all = json['sessions'] as Record<string, unknown>[];
    return all
      .filter(({ principal }) => principal !== 'key:gone')
      .map(({ id, client, principal, project, protocolVersion, opened, subscriptions }) => ({
        id,
        client,
        principal,
        project,
        protocolVersion,
        opened,
        subscriptions,
      }));
  }

  async function connectSdkClients(): Promise<(ClientV1 | ClientV2)[]> {
    const clients = await Promise.all([
      connectV1(proxy.url, { elicitation: {} }, prepareV1, keyHeader('ann')),
      connectV2(proxy.url, { elicitation: {} }, prepareV2, keyHeader('ben')),
    ]);
    for (const client of clients) await client.subscribeResource({ uri: A });
    return clients;
  }

  beforeAll(async () => {
    docs = await startSubscribableServer('x://a');
    docs.tool('ask', async (call) => {
      const { result, error } = await call.sendRequest('elicitation/create', QUESTION);
      return text(JSON.stringify(result ?? error));
    });
    docs.tool('wait', (call) => {
      call.progress(1);
      return new Promise(() => {});
    });
    processes = await GatewayProcesses.start({
      mcpServers: { docs: docs.http },
      projects: { one: { servers: ['docs'] } },
      auth: keysOf('ann', 'ben', 'gone'),
      admin: { token: ADMIN_TOKEN },
    });
    proxy = await TcpProxy.start(processes.gateway.url);
    await processes.gateway.listed({ resources: ['docs'], tools: ['docs'] }, keyHeader('ann'));
    sessions = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const owner = n % 2 === 0 ? 'ann' : 'ben';
        const protocolVersion = n < 4 ? '2025-03-26' : '2025-11-25';
        return {
          owner,
          session: await open(owner, n < 6 ? '/mcp' : '/projects/one/mcp', { protocolVersion }),
        };
      }),
    );
    for (const { session } of sessions.slice(0, 3)) await session.request('resources/subscribe', { uri: A });
    capable = await open('ann', '/mcp', { capabilities: { elicitation: {} } });
    capable.onServerRequest = () => ({ action: 'accept', content: {} });
    leveled = await open('ben');
    revoked = await open('gone');
    sdkClients = await connectSdkClients();
    await capable.callTool('docs__ask');
    before = await listedSessions();
  }, STARTS_MS);

  describe.each([
    ['SIGTERM', 'error', keysOf('ann', 'ben')],
    ['SIGKILL', 'alert', keysOf('ann', 'ben', 'gone')],
  ] as const)('after a restart by %s', (signal, level, auth) => {
    let ended: RawSession[];
    /** The statuses of requests during the restart. */
    const statuses = new Set<number>();
    let updatesBefore: number[];
    /** The response stream of a call that runs when the gateway is killed. */
    let cutOff: Events | undefined;

    /** Sends requests until the function is called. Requests that are not answered are ignored. */
    function keepPinging(): () => Promise<unknown> {
      const stopping = new AbortController();
      const ping = async ({ session }: { session: RawSession }): Promise<void> => {
        if (stopping.signal.aborted) return;
        await statusOf(session).then(
          (status) => statuses.add(status),
          () => new Promise((resolve) => setImmediate(resolve)),
        );
        await ping({ session });
      };
      const pinging = sessions.map(ping);
      return () => {
        stopping.abort();
        return Promise.all(pinging);
      };
    }

    beforeAll(async () => {
      const [deleted, closed] = [await open('ann'), await open('ann')];
      const { json } = await processes.admin.get('sessions?limit=100');
      const newest = (json['sessions'] as { id: string }[]).at(-1)!.id;
      const stopPinging = keepPinging();
      await processes.admin.delete(`sessions/${newest}`);
      await deleted.end();
      await leveled.request('logging/setLevel', { level });
      updatesBefore = [...updates];
      // After SIGTERM the gateway would wait for the call.
      if (signal === 'SIGKILL') cutOff = await leveled.stream('tools/call', WAITING_CALL, 'cut off');
      await cutOff?.message('progress', ({ method }) => method === 'notifications/progress');
      await processes.restart(signal, { auth });
      proxy.target = processes.gateway.url;
      await until('requests are answered again', () => statusOf(capable).catch(() => undefined));
      await stopPinging();
      ended = [deleted, closed];
    }, STARTS_MS);

    it('are known to their principal, and unknown to every other', async () => {
      for (const { session, owner } of sessions) {
        expect(await statusOf(session, keyHeader(other(owner)))).toBe(404);
        expect(await statusOf(session)).toBe(200);
      }
    });

    it('answer no request with an error while the gateway is restarted', () => {
      expect([...statuses]).toEqual([200]);
    });

    it('keep id, client, principal, project, revision and age', async () => {
      expect(await listedSessions()).toEqual(before);
    });

    it('keep the capabilities of their client, and give requests of servers new ids', async () => {
      await processes.gateway.listed({ tools: ['docs'] }, keyHeader('ann'));
      const answer = await capable.callTool('docs__ask');
      expect(textIn(answer)).toBe('{"action":"accept","content":{}}');
      const ids = capable.serverRequests.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(textIn(await sessions[0]!.session.callTool('docs__ask'))).toContain('-32601');
    });

    it('answer a call that the restart cut off with an error when its response is resumed', async () => {
      if (!cutOff) return;
      const resumed = await leveled.listen(cutOff.lastId);
      await resumed.untilEnded();
      expect(resumed.messages).toMatchObject([{ id: 'cut off', error: { code: -31009 } }]);
    });

    it('keep their log level', async () => {
      const events = await leveled.listen();
      const received = (): unknown[] => events.messages.map(({ params }) => params?.['data']);
      // Dropped while a call has ended within the last second.
      await until('a message of the level arrives', () => {
        log(level, 'first');
        return received().includes('first');
      });
      for (const below of ['warning', 'error'].filter((one) => one !== level)) log(below, 'below the level');
      log(level, 'last');
      await until('the last message arrives', () => received().includes('last'));
      expect(received()).not.toContain('below the level');
      events.disconnect();
    });

    it('that were deleted by their client or closed by an administrator stay ended', async () => {
      for (const session of ended) expect(await statusOf(session)).toBe(404);
    });

    it('of a removed key stay ended, also when the key is back', async () => {
      expect(await statusOf(revoked)).toBe(signal === 'SIGTERM' ? 401 : 404);
    });

    it('of another gateway are unknown', async () => {
      expect(await statusOf(sessions[0]!.session, { 'mcp-session-id': FOREIGN_ID })).toBe(404);
    });

    it('go on for SDK clients, which hear of missed and new updates without doing anything', async () => {
      const untilMore = (than: readonly number[]): Promise<unknown> =>
        until('both clients get an update', () => updates.every((n, at) => n > than[at]!));
      await untilMore(updatesBefore);
      const counts = [...updates];
      sendUpdate(docs, 'x://a');
      await untilMore(counts);
      for (const client of sdkClients) {
        const result = await client.callTool({ name: 'docs__ask', arguments: {} });
        expect(textIn({ result })).toBe('{"action":"decline"}');
      }
    });
  });

  it('survive ten broken streams with a new event id each', async () => {
    const client = await SubscribedClient.onSession(await open('ann'));
    onCleanup(() => client.session.end().catch(() => {}));
    const ids = new Set<string>();
    let { events } = client;
    for (let n = 0; n < 10; n++) {
      await until('the stream has an event id', () => events.all.length > 0);
      ids.add(events.lastId);
      proxy.breakConnections();
      await events.untilEnded();
      events = await client.session.listen(events.lastId);
    }
    expect(ids.size).toBe(10);
  });
});
