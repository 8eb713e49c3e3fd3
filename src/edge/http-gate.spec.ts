import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { exchange, type RawRequest, type RawResponse } from '../../test/kit/http.js';
import { within } from '../../test/kit/until.js';
import { AllowedOrigins } from './allowed-origins.js';
import { HttpGate } from './http-gate.js';
import { DeadPeerDetector } from './dead-peer-detector.js';

const answer =
  (words: string) =>
  (_request: IncomingMessage, response: ServerResponse): void =>
    void response.end(words);

let gate: HttpGate;
const watched = jest.fn();
let server: Server;
let port: number;
beforeEach(async () => {
  const lost = new DeadPeerDetector();
  lost.watch = watched;
  gate = new HttpGate(
    new AllowedOrigins({
      host: '127.0.0.1',
      allowedHosts: ['gw.example.com'],
      allowedOrigins: ['https://app.example.com'],
    }),
    lost,
  );
  server = gate.server(answer('nest'));
  gate.open({ handle: answer('mcp') });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  onCleanup(() => {
    server.close();
    server.closeAllConnections();
  });
});

const ask = (path: string, asked: RawRequest = {}): Promise<RawResponse> =>
  exchange(`http://127.0.0.1:${port}${path}`, asked);

/** Exactly these bytes, and the first line of what comes back. */
async function statusOf(raw: string): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1');
  onCleanup(() => socket.destroy());
  socket.write(raw);
  const [bytes] = (await within('an answer', once(socket, 'data'))) as [Buffer];
  return bytes.toString().split('\r\n')[0];
}

describe('the gate', () => {
  it.each([
    ['/mcp', 'mcp'],
    ['/mcp?x=1', 'mcp'],
    ['/mcp/', 'nest'],
    ['/mcpx', 'nest'],
    ['/MCP', 'nest'],
    ['//mcp', 'nest'],
    ['/', 'nest'],
    ['/health/live', 'nest'],
  ])('leads %s to %s', async (path, expected) => {
    expect((await ask(path)).text).toBe(expected);
  });

  it.each(['/mcp', '/', '/admin/v1/servers', '/health', '/metrics'])(
    'refuses a foreign Host on %s',
    async (path) => {
      const response = await ask(path, { headers: { host: 'evil.test' } });
      expect(response.status).toBe(403);
      const body = JSON.parse(response.text) as { id?: unknown; error: { code: number } };
      expect(body.error.code).toBe(-32000);
      expect('id' in body).toBe(false);
    },
  );

  it.each(['/health/live', '/health/ready', '/health/startup'])(
    'lets orchestrators ask %s by any name, but no foreign page',
    async (path) => {
      expect((await ask(path, { headers: { host: '10.1.2.3:3000' } })).status).toBe(200);
      const foreign = { host: '10.1.2.3:3000', origin: 'http://evil.test' };
      expect((await ask(path, { headers: foreign })).status).toBe(403);
    },
  );

  it('refuses a request without a Host', async () => {
    expect(await statusOf('GET /mcp HTTP/1.0\r\n\r\n')).toBe('HTTP/1.1 403 Forbidden');
    expect(await statusOf('GET /mcp HTTP/1.1\r\n\r\n')).toBe('HTTP/1.1 400 Bad Request');
  });

  it.each(['http://evil.test', 'null', 'http://localhost.evil.test'])(
    'refuses the Origin %s on every path, though the Host is ours',
    async (origin) => {
      for (const path of ['/mcp', '/', '/health/live'])
        expect((await ask(path, { headers: { origin } })).status).toBe(403);
      const preflight = await ask('/mcp', { method: 'OPTIONS', headers: { origin } });
      expect(preflight.status).toBe(403);
      expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
    },
  );

  it.each(['https://app.example.com', 'http://localhost:5173'])(
    'lets pages of %s read the answers',
    async (origin) => {
      const { status, headers } = await ask('/mcp', { headers: { origin, host: 'gw.example.com' } });
      expect(status).toBe(200);
      expect(headers['access-control-allow-origin']).toBe(origin);
      expect(headers['access-control-expose-headers']).toContain('mcp-session-id');
      expect(headers.vary).toBe('origin');
    },
  );

  it('says nothing of origins to a client that has none', async () => {
    expect((await ask('/mcp')).headers['access-control-allow-origin']).toBeUndefined();
  });

  it('has the connections of its server watched, for clients that are lost', () => {
    expect(watched).toHaveBeenLastCalledWith(server);
  });

  it('ends the connection of a request whose body it did not read', async () => {
    const { status, headers } = await ask('/mcp', {
      method: 'POST',
      headers: { host: 'evil.test', 'transfer-encoding': 'chunked' },
      body: 'x'.repeat(100_000),
    });
    expect(status).toBe(403);
    expect(headers.connection).toBe('close');
  });
});
