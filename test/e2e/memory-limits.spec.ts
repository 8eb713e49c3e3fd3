import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../kit/cleanup.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { BOTH_TYPES, RawSession, textIn } from '../kit/raw-session.js';
import { Scrape } from '../kit/scrape.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import {
  sendUpdate,
  startSubscribableServer,
  SubscribedClient,
  untilRequested,
} from '../kit/subscribed-client.js';
import { deferred, until } from '../kit/until.js';

const MEGABYTE = 1_048_576;
/** More than the socket buffers of the kernel. */
const LARGE_RESULT = 15 * MEGABYTE;

/** A server whose result of `initialize` is over a megabyte. */
async function startTalkativeServer(): Promise<ScriptedServer> {
  const server = await ScriptedServer.start();
  return server.on('initialize', () => ({
    protocolVersion: '2025-11-25',
    capabilities: {},
    serverInfo: { name: 'talkative', version: '1' },
    instructions: 'x'.repeat(MEGABYTE),
  }));
}

describe('memory limits', () => {
  let docs: ScriptedServer;
  let gateway: Gateway;
  const gate = deferred<string>();

  beforeAll(async () => {
    docs = await startSubscribableServer('x://a');
    docs
      .tool('wait', async () => text(await gate.promise))
      .tool('large', () => text('x'.repeat(LARGE_RESULT)))
      .tool('small', () => text('small'))
      .tool('ask', async (call) => {
        const requests = Array.from({ length: 1000 }, () => call.sendRequest('roots/list', {}));
        const outcomes: unknown[] = [];
        for (const request of requests) void request.then(({ error }) => outcomes.push(error?.code));
        await until('all but those that wait are refused', () => outcomes.length === 1000 - 64);
        return text(JSON.stringify([...new Set(outcomes)]));
      });
    gateway = await startGateway({
      mcpServers: {
        docs: { ...docs.http, timeoutMs: 5000 },
        talkative: (await startTalkativeServer()).http,
      },
      limits: { streamStuckMs: 3000, unreadBytesPerSession: MEGABYTE },
    });
    await gateway.listed({ tools: ['docs'], resources: ['docs'] });
  });

  const limited = async (limit: string): Promise<number> => {
    const { text: metrics } = await exchange(gateway.urlOf('/metrics'));
    return new Scrape(metrics).value('gatehouse_memory_limits_total', { limit })!;
  };

  /** Calls a tool on a connection of its own, of which nothing is read. */
  const callWithoutReading = (session: RawSession, id: number): Socket => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname).pause();
    onCleanup(() => void socket.destroy());
    socket.on('error', () => {});
    const params = { name: 'docs__large', arguments: {} };
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
    const headers = [
      'POST /mcp HTTP/1.1',
      `host: ${hostname}`,
      'content-type: application/json',
      `accept: ${BOTH_TYPES}`,
      `mcp-session-id: ${session.id}`,
      `content-length: ${body.length}`,
    ];
    socket.write(`${headers.join('\r\n')}\r\n\r\n${body}`);
    return socket;
  };

  it('refuse an initialize whose client information or capabilities are too large', async () => {
    for (const large of [
      { clientInfo: { name: 'x'.repeat(4_000_000) } },
      { capabilities: { experimental: { x: 'x'.repeat(17_000) } } },
    ]) {
      const params = { protocolVersion: '2025-11-25', capabilities: {}, ...large };
      const { text: answer, headers } = await exchange(gateway.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: BOTH_TYPES },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
      });
      expect(JSON.parse(answer)).toMatchObject({
        error: { code: -32602, message: expect.stringContaining('16384 bytes') },
      });
      expect(headers).not.toHaveProperty('mcp-session-id');
    }
    expect(await limited('client-profile')).toBe(2);
  });

  it('refuse a request id and a progress token that are too long, before the server is asked', async () => {
    const session = await RawSession.open(gateway.url);
    const calls = docs.countOf('tools/call');
    const long = 'x'.repeat(4_000_000);
    const { status, text: answer } = await session.post({ jsonrpc: '2.0', id: long, method: 'ping' });
    expect([status, answer.length < 1000]).toEqual([400, true]);
    const params = { name: 'docs__small', _meta: { progressToken: long } };
    expect((await session.request('tools/call', params)).error).toMatchObject({ code: -32602 });
    expect(docs.countOf('tools/call')).toBe(calls);
    expect([await limited('message-id'), await limited('progress-token')]).toEqual([1, 1]);
  });

  it('refuse the result of initialize of a server that is too large', async () => {
    await until('it is refused', async () => (await limited('handshake-result')) > 0);
    const labels = { server_id: 'talkative' };
    const { text: metrics } = await exchange(gateway.urlOf('/metrics'));
    expect(new Scrape(metrics).value('mcp_backend_up', labels)).toBe(0);
  });

  it('answer a server with an error beyond the requests that may wait for one client', async () => {
    const session = await RawSession.open(gateway.url, { capabilities: { roots: {} } });
    const answer = await session.callTool('docs__ask');
    expect(textIn(answer)).toBe('[-31029]');
    expect(answer.before.filter(({ method }) => method === 'roots/list')).toHaveLength(64);
    const refused = await Promise.all([limited('client-requests'), limited('link-requests')]);
    expect(refused[0] + refused[1]).toBe(1000 - 64);
  });

  it('bound the responses that a client does not read, and release them', async () => {
    const session = await RawSession.open(gateway.url);
    const sockets = Array.from({ length: 4 }, (_, n) => callWithoutReading(session, 1000 + n));
    await until('results are replaced by errors', async () => (await limited('unread-responses')) > 0);
    const other = await RawSession.open(gateway.url);
    expect(textIn(await other.callTool('docs__small'))).toBe('small');
    expect((await session.callTool('docs__small')).error).toMatchObject({
      code: -31029,
      data: { code: 'LimitExceeded', limit: MEGABYTE },
    });
    const isClosed = async (): Promise<boolean> =>
      (await session.callTool('docs__small')).error === undefined;
    await until('the clients that do not read are disconnected', isClosed);
    for (const socket of sockets) socket.destroy();
  });

  it('deliver no update before the response of the batch that subscribed', async () => {
    const client = await SubscribedClient.open(gateway.url, { protocolVersion: '2025-03-26' });
    const batch = client.session.post([
      { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'resource://docs/x://a' } },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'docs__wait' } },
    ]);
    await untilRequested(docs, '+x://a');
    sendUpdate(docs, 'x://a');
    // The response of this request comes after the update has been processed.
    await client.session.callTool('docs__small');
    expect(client.updates).toEqual([]);
    gate.resolve('done');
    expect(JSON.parse((await batch).text)).toHaveLength(2);
    await until('the update follows', () => client.updates.length > 0);
  });
});
