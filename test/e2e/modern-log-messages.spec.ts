import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawModernClient } from '../kit/raw-modern-client.js';
import { connectModern, type ClientV2 } from '../kit/sdk-clients.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { deferred, type Deferred } from '../kit/until.js';

const MESSAGE = 'notifications/message';
const LEVEL = 'io.modelcontextprotocol/logLevel';
const LEVELS = ['debug', 'info', 'warning', 'error'];
const TRANSPORTS = ['http', 'stdio'] as const;

type Logged = readonly [level: unknown, data: unknown];

const talk = (client: ClientV2, id: string, args: object, level?: string): Promise<unknown> =>
  client.callTool({
    name: `${id}__talk`,
    arguments: { ...args },
    ...(level !== undefined && { _meta: { [LEVEL]: level } }),
  });

describe('log messages of a server of 2025 during a call of a client of 2026', () => {
  let server: ScriptedServer;
  let gateway: Gateway;
  let held: Deferred<void>;

  beforeAll(async () => {
    server = await ScriptedServer.start();
    server.tool('talk', async (call) => {
      const { data, waits } = call.args;
      if (waits) await held.promise;
      for (const level of LEVELS) call.notify(MESSAGE, { level, data });
      return text('done');
    });
    gateway = await startGateway({
      mcpServers: { http: server.http, stdio: server.stdio() },
    });
    await gateway.listed({ tools: TRANSPORTS });
  });

  async function connect(): Promise<[ClientV2, Logged[]]> {
    const logged: Logged[] = [];
    const client = await connectModern(gateway.url, {}, (sdk) =>
      sdk.setNotificationHandler(MESSAGE, ({ params }) => void logged.push([params.level, params.data])),
    );
    return [client, logged];
  }

  /** The last level that each link of the server was told. */
  const toldLevels = (): unknown[] => {
    const byLink = new Map(
      server.messages('logging/setLevel').map(({ link, message }) => [link, message.params?.['level']]),
    );
    return [...byLink.values()];
  };

  it.each(TRANSPORTS)('reach no client without a level (%s)', async (id) => {
    const [client, logged] = await connect();
    await talk(client, id, { data: 'none' });
    expect(logged).toEqual([]);
    expect(toldLevels()).toEqual([]);
  });

  it.each(TRANSPORTS)('reach its client at and above the level of the request (%s)', async (id) => {
    const [client, logged] = await connect();
    await talk(client, id, { data: 'warned' }, 'warning');
    expect(logged).toEqual([
      ['warning', 'warned'],
      ['error', 'warned'],
    ]);
    await talk(client, id, { data: 'after' });
    expect(logged).toHaveLength(2);
  });

  it('are requested from the server at the most verbose level of the requests', async () => {
    const [client, logged] = await connect();
    await talk(client, 'http', { data: 'x' }, 'error');
    await talk(client, 'http', { data: 'y' }, 'debug');
    expect(logged.map(([level]) => level)).toEqual(['error', ...LEVELS]);
    await server.untilReceived('logging/setLevel', ({ params }) => params?.['level'] === 'debug');
    await talk(client, 'http', { data: 'z' }, 'error');
    expect(toldLevels()).toEqual(['debug', 'debug']);
  });

  it('precede the result, and reach no other call that runs', async () => {
    held = deferred();
    const client = new RawModernClient(gateway.url);
    const call = (data: string, level?: string, waits = false) =>
      client.send('tools/call', {
        params: { name: 'http__talk', arguments: { data, waits } },
        meta: level === undefined ? {} : { [LEVEL]: level },
      }).answer;
    const before = server.countOf('tools/call');
    const [loud, quiet] = [call('loud', 'debug', true), call('quiet', undefined, true)];
    const { notifications } = await call('other', 'error');
    await server.untilReceived('tools/call', () => server.countOf('tools/call') === before + 3);
    held.resolve();
    const dataOf = (messages: typeof notifications): unknown[] =>
      messages.map(({ method, params }) => [method, params?.['level'], params?.['data']]);
    expect(dataOf(notifications)).toEqual([[MESSAGE, 'error', 'other']]);
    expect(dataOf((await loud).notifications)).toEqual(LEVELS.map((level) => [MESSAGE, level, 'loud']));
    expect(await quiet).toMatchObject({ notifications: [], result: { resultType: 'complete' } });
  });
});
