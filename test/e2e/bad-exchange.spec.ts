import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../kit/cleanup.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange, type RawRequest, type RawResponse } from '../kit/http.js';
import { refusal, BOTH_TYPES, RawSession } from '../kit/raw-session.js';
import { Scrape } from '../kit/scrape.js';
import { within } from '../kit/until.js';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const MESSAGE = { accept: BOTH_TYPES, 'content-type': 'application/json' };
const LIMIT = 4_194_304;

/** A message with this number of bytes. */
function padded(size: number): string {
  const start = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":"';
  return `${start}${'x'.repeat(size - start.length - 3)}"}}`;
}

const chunkOf = (size: number): string => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;

describe('an HTTP request', () => {
  let gateway: Gateway;
  let session: RawSession;

  beforeAll(async () => {
    gateway = await startGateway({});
    session = await RawSession.open(gateway.url);
  });

  const post = (headers: Record<string, string>): Promise<RawResponse> =>
    exchange(gateway.url, {
      method: 'POST',
      headers: { ...MESSAGE, ...headers },
      body: JSON.stringify(PING),
    });

  const inSession = (headers: Record<string, string> = {}): Promise<RawResponse> =>
    post({ 'mcp-session-id': session.id, ...headers });

  /** A connection with the start of a chunked body; `closed` resolves with the error, if there was one. */
  function beginBody(): { socket: Socket; response: () => string; closed: Promise<string | undefined> } {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    onCleanup(() => socket.destroy());
    let response = '';
    let fault: string | undefined;
    socket
      .on('data', (data) => (response += data.toString()))
      .on('error', (error: NodeJS.ErrnoException) => (fault = error.code));
    const closed = new Promise<string | undefined>((resolve) => socket.once('close', () => resolve(fault)));
    const head = {
      ...MESSAGE,
      host: 'localhost',
      'mcp-session-id': session.id,
      'transfer-encoding': 'chunked',
    };
    const lines = Object.entries(head).map(([key, value]) => `${key}: ${value}\r\n`);
    socket.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n`);
    return { socket, response: () => response, closed };
  }

  describe('headers', () => {
    it.each([
      'application/json',
      'text/event-stream',
      'text/html',
      '',
      'application/json;q=0, text/event-stream',
    ])('are answered 406 when Accept lacks JSON or event streams (%s)', async (accept) => {
      expect(await refusal(inSession({ accept }))).toEqual([406, -32000]);
    });

    it.each([
      BOTH_TYPES,
      '*/*',
      'application/*, text/*',
      'TEXT/EVENT-STREAM, Application/JSON',
      `x/y, ${BOTH_TYPES};q=0.5`,
    ])('are accepted when Accept matches JSON and event streams (%s)', async (accept) => {
      expect((await inSession({ accept })).status).toBe(200);
    });

    it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
      'are answered 415 when Content-Type is not JSON (%s)',
      async (contentType) => {
        expect(await refusal(inSession({ 'content-type': contentType }))).toEqual([415, -32000]);
      },
    );

    it('may name the charset of the JSON', async () => {
      expect((await inSession({ 'content-type': 'application/json; charset=utf-8' })).status).toBe(200);
    });

    it('are answered 400 without a session id, and 405 if only sessions have their method', async () => {
      expect(await refusal(post({}))).toEqual([400, -32000]);
      expect(await refusal(exchange(gateway.url, { headers: { accept: 'text/event-stream' } }))).toEqual([
        405, -32000,
      ]);
      expect(await refusal(exchange(gateway.url, { method: 'DELETE' }))).toEqual([405, -32000]);
    });

    it('are answered 404 and -32001 with an unknown session id, for every verb', async () => {
      const gone = await RawSession.open(gateway.url);
      await gone.end();
      for (const id of [gone.id, 'never-was', '__proto__']) {
        const headers = { 'mcp-session-id': id };
        expect(await refusal(post(headers))).toEqual([404, -32001]);
        const stream: RawRequest = { headers: { ...headers, accept: 'text/event-stream' } };
        expect(await refusal(exchange(gateway.url, stream))).toEqual([404, -32001]);
        expect(await refusal(exchange(gateway.url, { method: 'DELETE', headers }))).toEqual([404, -32001]);
      }
    });

    it('are answered 404 as often as a client sends the id of an ended session, which opens no session', async () => {
      const [gone, other] = [await RawSession.open(gateway.url), await RawSession.open(gateway.url)];
      const sessions = async (): Promise<number | undefined> =>
        new Scrape((await exchange(gateway.urlOf('/metrics'))).text).value('mcp_sessions_active');
      await gone.end();
      const before = await sessions();
      const statuses = new Set<number>();
      for (let batch = 0; batch < 20; batch++) {
        const headers = { 'mcp-session-id': gone.id };
        const answers = await Promise.all(Array.from({ length: 50 }, () => post(headers)));
        for (const { status } of answers) statuses.add(status);
      }
      expect([[...statuses], await sessions()]).toEqual([[404], before]);
      expect((await other.request('ping')).result).toEqual({});
    });

    it.each(['1.0', 'x'])('are answered 400 with an unknown MCP-Protocol-Version (%s)', async (version) => {
      expect(await refusal(inSession({ 'mcp-protocol-version': version }))).toEqual([400, -32000]);
    });

    it('are answered 400 with the MCP-Protocol-Version of a revision whose envelope they lack', async () => {
      expect(await refusal(inSession({ 'mcp-protocol-version': '2026-07-28' }))).toEqual([400, -32602]);
    });

    it.each([
      'http://evil.example',
      'null',
      'http://localhost.evil.example',
      'http://evil.example?http://localhost',
      'http://localhost@evil.example',
      'file://localhost',
    ])('are answered 403 with a foreign Origin, on every path (%s)', async (origin) => {
      expect(await refusal(inSession({ origin }))).toEqual([403, -32000]);
      for (const path of ['/health/live', '/health/ready', '/nope'])
        expect((await exchange(gateway.urlOf(path), { headers: { origin } })).status).toBe(403);
    });

    it.each(['http://localhost:5173', 'http://127.0.0.1', 'https://localhost'])(
      'are accepted with a loopback Origin (%s)',
      async (origin) => {
        const response = await inSession({ origin });
        expect(response.status).toBe(200);
        expect(response.headers['access-control-allow-origin']).toBe(origin);
      },
    );

    it.each(['evil.example', 'evil.example:80', 'localhost.evil.example', '127.0.0.1.evil.example'])(
      'are answered 403 with a foreign Host (%s)',
      async (host) => {
        expect(await refusal(inSession({ host }))).toEqual([403, -32000]);
      },
    );

    it.each(['localhost', 'LOCALHOST:3000', '127.0.0.1', '[::1]:80'])(
      'are accepted with a loopback Host (%s)',
      async (host) => {
        expect((await inSession({ host })).status).toBe(200);
      },
    );

    it('are not checked for the Host of a health probe', async () => {
      const headers = { host: '10.0.0.7:3000' };
      expect((await exchange(gateway.urlOf('/health/live'), { headers })).status).toBe(200);
    });
  });

  it.each(['PUT', 'PATCH', 'HEAD', 'TRACE'])(
    'is answered 405 with the unsupported verb %s',
    async (method) => {
      const response = await exchange(gateway.url, { method, headers: { 'mcp-session-id': session.id } });
      expect(response.status).toBe(405);
      expect(response.headers['allow']).toContain('POST');
    },
  );

  it('is answered 404 at an unknown path', async () => {
    for (const path of ['/x', '/mcp/', '/mcp/x', '/MCP'])
      expect((await exchange(gateway.urlOf(path), { headers: { accept: '*/*' } })).status).toBe(404);
  });

  describe('body size', () => {
    it('is accepted up to the limit', async () => {
      expect((await session.post(padded(LIMIT))).status).toBe(200);
    });

    it('is answered 413 beyond the limit, by Content-Length', async () => {
      expect(await refusal(session.post(padded(LIMIT + 1)))).toEqual([413, -32000]);
    });

    it('is answered 413 beyond the limit, by the bytes received, without Content-Length', async () => {
      const headers = { ...MESSAGE, 'mcp-session-id': session.id, 'transfer-encoding': 'chunked' };
      expect(
        await refusal(exchange(gateway.url, { method: 'POST', headers, body: padded(LIMIT + 1) })),
      ).toEqual([413, -32000]);
    });

    it('is answered 413 to a client that sends the whole body first', async () => {
      const headers = { ...MESSAGE, 'mcp-session-id': session.id, 'content-length': String(5 * LIMIT) };
      const body = Buffer.alloc(5 * LIMIT, 'x');
      for (let attempt = 0; attempt < 10; attempt++)
        expect(await refusal(exchange(gateway.url, { method: 'POST', headers, body }))).toEqual([
          413, -32000,
        ]);
    });

    it('is answered 413 in the middle of an endless body', async () => {
      const { socket, response, closed } = beginBody();
      socket.write(chunkOf(LIMIT));
      socket.write(chunkOf(1));
      await within('the connection to be closed', closed);
      expect(response()).toMatch(/^HTTP\/1\.1 413 /);
    });

    it('is not read before the refusal: the connection of an endless body is closed', async () => {
      const { socket, response, closed } = beginBody();
      const chunk = chunkOf(0x10000);
      let written = 0;
      const pump = (): void => {
        while (!socket.destroyed && written < 64 * LIMIT && socket.write(chunk)) written += chunk.length;
      };
      socket.on('drain', pump);
      pump();
      await within('the connection to be closed', closed);
      // A client that still writes when the connection closes may see the reset before the response.
      expect(response() || (await closed)).toMatch(/^(HTTP\/1\.1 413 |ECONNRESET$|EPIPE$)/);
      expect(written).toBeLessThan(64 * LIMIT);
    });
  });

  it('leaves the gateway working after all bad requests', async () => {
    expect(gateway.isRunning).toBe(true);
    expect((await session.request('ping')).result).toEqual({});
    expect(gateway.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
