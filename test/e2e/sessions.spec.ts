import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { messageIn, postMessage, RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { deferred, until } from '../kit/until.js';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
};

/** Sends DELETE, because any other request would keep the session alive. */
const hasExpired = async (session: RawSession): Promise<boolean> => (await session.end()).status === 404;

describe('sessions', () => {
  let server: ScriptedServer;
  let url: string;
  const end = deferred();

  beforeAll(async () => {
    server = await ScriptedServer.start();
    server.tool('wait', async () => {
      await end.promise;
      return text('waited');
    });
    const gateway = await startGateway({
      limits: { sessions: 4, sessionIdleMs: 1500 },
      mcpServers: { s: server.stdio() },
    });
    await gateway.listed({ tools: ['s'] });
    url = gateway.url;
  });

  const endSession = async (id: unknown): Promise<void> => {
    if (typeof id === 'string') await exchange(url, { method: 'DELETE', headers: { 'mcp-session-id': id } });
  };

  it('expire when idle, but not while a stream is open or a call is in flight', async () => {
    const [idle, listening, calling] = await Promise.all([1, 2, 3].map(() => RawSession.open(url)));
    const stream = await listening!.listen();
    const call = calling!.callTool('s__wait');
    // With a limit of four, two more sessions fit only after the idle one has expired.
    const others = await until('the idle session has expired', async () => {
      const answers = await Promise.all([1, 2].map(() => postMessage(url, INITIALIZE)));
      const ids = answers.map(({ headers }) => headers['mcp-session-id']);
      if (ids.every((id) => id !== undefined)) return ids;
      // Ends the sessions of this attempt, so that they do not count in the next one.
      await Promise.all(ids.map(endSession));
      return undefined;
    });
    expect(await hasExpired(idle!)).toBe(true);
    expect(stream.hasEnded).toBe(false);
    end.resolve();
    expect((await call).result).toEqual(text('waited'));
    expect((await listening!.request('ping')).result).toEqual({});
    await Promise.all([...others, listening!.id, calling!.id].map(endSession));
  });

  it('are limited to limits.sessions, and one more is refused', async () => {
    const responses = await Promise.all([1, 2, 3, 4, 5].map(() => postMessage(url, INITIALIZE)));
    const refused = responses
      .map((response) => messageIn(response.text))
      .filter(({ error }) => error !== undefined);
    expect(refused).toHaveLength(1);
    expect(refused[0]?.error).toMatchObject({ code: -31029, data: { code: 'LimitExceeded', limit: 4 } });
    await Promise.all(responses.map(({ headers }) => endSession(headers['mcp-session-id'])));
  });

  const log = (data: string): void => server.broadcast('notifications/message', { level: 'info', data });

  it('with several GET streams get a message on one of them, the newest open one', async () => {
    const session = await RawSession.open(url);
    await session.request('logging/setLevel', { level: 'debug' });
    const older = await session.listen();
    const newer = await session.listen();
    // Log messages are dropped while a call has ended within the last second.
    await until('a message arrives on the newer stream', () => {
      log('first');
      return newer.messages.length > 0;
    });
    log('last');
    await newer.message('the last message', ({ params }) => params?.['data'] === 'last');
    newer.disconnect();
    await until('a message arrives on the older stream', () => {
      log('again');
      return older.messages.length > 0;
    });
    expect(older.messages[0]?.params?.['data']).toBe('again');
    older.disconnect();
  });
});
