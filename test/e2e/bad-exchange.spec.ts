import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../kit/cleanup.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange, type RawRequest, type RawResponse } from '../kit/http.js';
import { refusal, BOTH_TYPES, RawSession } from '../kit/raw-session.js';
import { within } from '../kit/until.js';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const MESSAGE = { accept: BOTH_TYPES, 'content-type': 'application/json' };
const LIMIT = 4_194_304;

/** A message of exactly so many bytes. */
function padded(size: number): string {
  const start = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":"';
  return `${start}${'x'.repeat(size - start.length - 3)}"}}`;
}

const chunkOf = (size: number): string => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;

describe('bad input in exchanges', () => {
  let gateway: Gateway;
  let session: RawSession;

  beforeAll(async () => {
    gateway = await startGateway({});
    session = await RawSession.open(gateway.url);
  }, 30_000);

  const post = (headers: Record<string, string>): Promise<RawResponse> =>
    exchange(gateway.url, {
      method: 'POST',
      headers: { ...MESSAGE, ...headers },
      body: JSON.stringify(PING),
    });

  const inSession = (headers: Record<string, string> = {}): Promise<RawResponse> =>
    post({ 'mcp-session-id': session.id, ...headers });

  /** A connection on which a body has begun whose length nobody knows; closed says what went wrong, if anything. */
  function beginBody(): { socket: Socket; said: () => string; closed: Promise<string | undefined> } {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    onCleanup(() => socket.destroy());
    let said = '';
    let fault: string | undefined;
    socket
      .on('data', (data) => (said += data.toString()))
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
    return { socket, said: () => said, closed };
  }

  describe('in headers', () => {
    it.each([
      'application/json',
      'text/event-stream',
      'text/html',
      '',
      'application/json;q=0, text/event-stream',
    ])('that take less than both kinds of answer are 406 (%s)', async (accept) => {
      expect(await refusal(inSession({ accept }))).toEqual([406, -32000]);
    });

    it.each([
      BOTH_TYPES,
      '*/*',
      'application/*, text/*',
      'TEXT/EVENT-STREAM, Application/JSON',
      `x/y, ${BOTH_TYPES};q=0.5`,
    ])('that take both kinds are fine, however they say it (%s)', async (accept) => {
      expect((await inSession({ accept })).status).toBe(200);
    });

    it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
      'that do not announce JSON are 415 (%s)',
      async (contentType) => {
        expect(await refusal(inSession({ 'content-type': contentType }))).toEqual([415, -32000]);
      },
    );

    it('may say which characters the JSON is written in', async () => {
      expect((await inSession({ 'content-type': 'application/json; charset=utf-8' })).status).toBe(200);
    });

    it('without a session are 400', async () => {
      expect(await refusal(post({}))).toEqual([400, -32000]);
      expect(await refusal(exchange(gateway.url, { headers: { accept: 'text/event-stream' } }))).toEqual([
        400, -32000,
      ]);
      expect(await refusal(exchange(gateway.url, { method: 'DELETE' }))).toEqual([400, -32000]);
    });

    it('with a session that does not exist are 404 and -32001, for every verb', async () => {
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

    it.each(['2026-07-28', '1.0', 'x'])(
      'of an unknown MCP-Protocol-Version are 400 (%s)',
      async (version) => {
        expect(await refusal(inSession({ 'mcp-protocol-version': version }))).toEqual([400, -32000]);
      },
    );

    it.each([
      'http://evil.example',
      'null',
      'http://localhost.evil.example',
      'http://evil.example?http://localhost',
      'http://localhost@evil.example',
      'file://localhost',
    ])('of a strange Origin are 403, on every path (%s)', async (origin) => {
      expect(await refusal(inSession({ origin }))).toEqual([403, -32000]);
      for (const path of ['/health/live', '/health/ready', '/nope'])
        expect((await exchange(gateway.urlOf(path), { headers: { origin } })).status).toBe(403);
    });

    it.each(['http://localhost:5173', 'http://127.0.0.1', 'https://localhost'])(
      'of an Origin on this machine are fine (%s)',
      async (origin) => {
        const response = await inSession({ origin });
        expect(response.status).toBe(200);
        expect(response.headers['access-control-allow-origin']).toBe(origin);
      },
    );

    it.each(['evil.example', 'evil.example:80', 'localhost.evil.example', '127.0.0.1.evil.example'])(
      'of a strange Host are 403 (%s)',
      async (host) => {
        expect(await refusal(inSession({ host }))).toEqual([403, -32000]);
      },
    );

    it.each(['localhost', 'LOCALHOST:3000', '127.0.0.1', '[::1]:80'])(
      'of a Host of ours are fine (%s)',
      async (host) => {
        expect((await inSession({ host })).status).toBe(200);
      },
    );

    it('let orchestrators ask for health under any name', async () => {
      const headers = { host: '10.0.0.7:3000' };
      expect((await exchange(gateway.urlOf('/health/live'), { headers })).status).toBe(200);
    });
  });

  it.each(['PUT', 'PATCH', 'HEAD', 'TRACE'])(
    'by a verb that means nothing here is 405 (%s)',
    async (method) => {
      const response = await exchange(gateway.url, { method, headers: { 'mcp-session-id': session.id } });
      expect(response.status).toBe(405);
      expect(response.headers['allow']).toContain('POST');
    },
  );

  it('at a path that is none is 404', async () => {
    for (const path of ['/', '/mcp/', '/mcp/x', '/MCP'])
      expect((await exchange(gateway.urlOf(path), { headers: { accept: '*/*' } })).status).toBe(404);
  });

  describe('in size', () => {
    it('is fine up to the limit', async () => {
      expect((await session.post(padded(LIMIT))).status).toBe(200);
    });

    it('is 413 beyond it, by what was announced', async () => {
      expect(await refusal(session.post(padded(LIMIT + 1)))).toEqual([413, -32000]);
    });

    it('is 413 beyond it, by what has come, when nothing was announced', async () => {
      const headers = { ...MESSAGE, 'mcp-session-id': session.id, 'transfer-encoding': 'chunked' };
      expect(
        await refusal(exchange(gateway.url, { method: 'POST', headers, body: padded(LIMIT + 1) })),
      ).toEqual([413, -32000]);
    });

    it('is 413 to clients that first send everything, too', async () => {
      const headers = { ...MESSAGE, 'mcp-session-id': session.id, 'content-length': String(5 * LIMIT) };
      const body = Buffer.alloc(5 * LIMIT, 'x');
      for (let attempt = 0; attempt < 10; attempt++)
        expect(await refusal(exchange(gateway.url, { method: 'POST', headers, body }))).toEqual([
          413, -32000,
        ]);
    });

    it('is 413 in the middle of a body that has no end', async () => {
      const { socket, said, closed } = beginBody();
      socket.write(chunkOf(LIMIT));
      socket.write(chunkOf(1));
      await within('the connection to be closed', closed);
      expect(said()).toMatch(/^HTTP\/1\.1 413 /);
    });

    it('is not taken in before it is refused: an endless body is cut off', async () => {
      const { socket, said, closed } = beginBody();
      const chunk = chunkOf(0x10000);
      let written = 0;
      const pump = (): void => {
        while (!socket.destroyed && written < 64 * LIMIT && socket.write(chunk)) written += chunk.length;
      };
      socket.on('drain', pump);
      pump();
      await within('the connection to be closed', closed);
      // Who is still writing when the connection ends may learn of that first, and never get to read why.
      expect(said() || (await closed)).toMatch(/^(HTTP\/1\.1 413 |ECONNRESET$|EPIPE$)/);
      expect(written).toBeLessThan(64 * LIMIT);
    });
  });

  it('does the gateway no harm', async () => {
    expect(gateway.isRunning).toBe(true);
    expect((await session.request('ping')).result).toEqual({});
    expect(gateway.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
