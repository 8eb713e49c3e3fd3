import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { exchange, type RawRequest, type RawResponse } from '../../test/kit/http.js';
import { within } from '../../test/kit/until.js';
import { EdgeHarness } from '../../test/kit/edge-harness.js';
import { Scrape } from '../../test/kit/scrape.js';

/** The edge answers paths other than /mcp with 404. */
const NOT_MCP = 404;

let edge: EdgeHarness;
let url: URL;
beforeEach(async () => {
  const http = { allowedHosts: ['gw.example.com'], allowedOrigins: ['https://app.example.com'] };
  edge = new EdgeHarness({}, http);
  await edge.listen();
  onCleanup(() => edge.close());
  url = new URL(edge.url);
});

const send = (path: string, options: RawRequest = {}): Promise<RawResponse> =>
  exchange(new URL(path, url).href, options);

/** Sends exactly these bytes and returns the first line of the response. */
async function statusLineOf(raw: string): Promise<string | undefined> {
  const socket = connect(Number(url.port), '127.0.0.1');
  onCleanup(() => socket.destroy());
  socket.write(raw);
  const [bytes] = (await within('an answer', once(socket, 'data'))) as [Buffer];
  return bytes.toString().split('\r\n')[0];
}

/** The counted refusals by reason, without those that are 0. */
async function refusals(): Promise<Record<string, number>> {
  const { samples } = new Scrape(await edge.metrics.text());
  const counted = samples.filter(
    ({ name, value }) => name === 'gatehouse_origin_refusals_total' && value > 0,
  );
  return Object.fromEntries(counted.map(({ labels, value }) => [labels['reason'], value]));
}

describe('OriginGuard', () => {
  it.each(['/mcp', '/', '/admin/v1/servers', '/health', '/metrics'])(
    'refuses a foreign Host on %s',
    async (path) => {
      const response = await send(path, { headers: { host: 'evil.test' } });
      expect(response.status).toBe(403);
      const body = JSON.parse(response.text) as { id?: unknown; error: { code: number } };
      expect(body.error.code).toBe(-32000);
      expect('id' in body).toBe(false);
      expect(await refusals()).toEqual({ host: 1 });
    },
  );

  it.each(['/mcp', '/projects/a/mcp', '/health/live', '/nowhere'])(
    'answers 400 to a request for %s with two Host headers',
    async (path) => {
      const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nhOST: localhost\r\n\r\n`;
      expect(await statusLineOf(head)).toBe('HTTP/1.1 400 Bad Request');
      expect(await refusals()).toEqual({ 'several-hosts': 1 });
    },
  );

  it.each(['/health/live', '/health/ready', '/health/startup'])(
    'accepts any Host on %s, but no foreign Origin',
    async (path) => {
      expect((await send(path, { headers: { host: '10.1.2.3:3000' } })).status).toBe(NOT_MCP);
      const foreign = { host: '10.1.2.3:3000', origin: 'http://evil.test' };
      expect((await send(path, { headers: foreign })).status).toBe(403);
    },
  );

  it('refuses a request without a Host', async () => {
    expect(await statusLineOf('GET /mcp HTTP/1.0\r\n\r\n')).toBe('HTTP/1.1 403 Forbidden');
    expect(await statusLineOf('GET /mcp HTTP/1.1\r\n\r\n')).toBe('HTTP/1.1 400 Bad Request');
  });

  it.each(['http://evil.test', 'null', 'http://localhost.evil.test'])(
    'refuses the Origin %s on every path with an allowed Host',
    async (origin) => {
      for (const path of ['/mcp', '/', '/health/live'])
        expect((await send(path, { headers: { origin } })).status).toBe(403);
      const preflight = await send('/mcp', { method: 'OPTIONS', headers: { origin } });
      expect(preflight.status).toBe(403);
      expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
      expect(await refusals()).toEqual({ origin: 4 });
    },
  );

  it.each(['https://app.example.com', 'http://localhost:5173'])(
    'lets pages of %s read the responses',
    async (origin) => {
      for (const [path, method, status] of [
        ['/mcp', 'OPTIONS', 204],
        ['/', 'GET', NOT_MCP],
      ] as const) {
        const response = await send(path, { method, headers: { origin, host: 'gw.example.com' } });
        expect(response.status).toBe(status);
        expect(response.headers['access-control-allow-origin']).toBe(origin);
        expect(response.headers['access-control-expose-headers']).toContain('mcp-session-id');
        expect(response.headers.vary).toBe('origin');
      }
    },
  );

  it('adds no CORS headers for a request without an Origin', async () => {
    expect(
      (await send('/mcp', { method: 'OPTIONS' })).headers['access-control-allow-origin'],
    ).toBeUndefined();
  });

  it('closes the connection of a refused request whose body was not read', async () => {
    const { status, headers } = await send('/mcp', {
      method: 'POST',
      headers: { host: 'evil.test', 'transfer-encoding': 'chunked' },
      body: 'x'.repeat(100_000),
    });
    expect(status).toBe(403);
    expect(headers.connection).toBe('close');
  });
});
