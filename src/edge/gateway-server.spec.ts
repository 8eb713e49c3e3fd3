import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { exchange, type RawResponse } from '../../test/kit/http.js';
import { hasPrerequisite } from '../../test/kit/prerequisite.js';
import { until } from '../../test/kit/until.js';
import { HttpSettings } from '../config/http-settings.js';
import { Metrics } from '../metrics/metrics.js';
import { DeadPeerDetector } from './dead-peer-detector.js';
import { GatewayServer } from './gateway-server.js';
import { OriginGuard } from './origin.guard.js';

const answer =
  (words: string) =>
  (_request: IncomingMessage, response: ServerResponse): void =>
    void response.end(words);

const TCP_TABLE = '/proc/self/net/tcp';
const hex = (value: number): string => value.toString(16).toUpperCase().padStart(4, '0');

const watched = jest.fn();
let accepted: number;
let server: Server;
let port: number;
beforeEach(async () => {
  const deadPeers = new DeadPeerDetector();
  deadPeers.watch = watched;
  const gateway = new GatewayServer(deadPeers);
  server = gateway.create(answer('nest'));
  gateway.setRoutes({
    mcp: { handle: answer('mcp') },
    originGuard: new OriginGuard(new HttpSettings(), new Metrics()),
    connections: { accept: () => {}, refusePipelined: (socket) => void socket.destroy() },
    refuseAdmin: (_request, response, error) => void response.end(`admin: ${(error as Error).message}`),
  });
  accepted = 0;
  server.on('connection', () => accepted++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  onCleanup(() => {
    server.close();
    server.closeAllConnections();
  });
});

const ask = (path: string): Promise<RawResponse> => exchange(`http://127.0.0.1:${port}${path}`);

/** The status line and body of a request with these header lines. */
async function send(path: string, ...headers: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end([`GET ${path} HTTP/1.1`, ...headers, 'connection: close', '', ''].join('\r\n'));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

describe('GatewayServer', () => {
  it.each([
    ['/mcp', 'mcp'],
    ['/mcp?x=1', 'mcp'],
    ['/projects/a/mcp', 'mcp'],
    ['/projects/a/b/mcp', 'nest'],
    ['/mcp/', 'nest'],
    ['/mcpx', 'nest'],
    ['/MCP', 'nest'],
    ['//mcp', 'nest'],
    ['/', 'nest'],
    ['/health/live', 'nest'],
  ])('routes %s to %s', async (path, expected) => {
    expect((await ask(path)).text).toBe(expected);
  });

  const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';
  it.each<[string, string, Record<string, string>, string]>([
    ['GET', 'a browser', { accept: HTML }, 'nest'],
    ['GET', 'any client', { accept: '*/*' }, 'mcp'],
    ['GET', 'an MCP client', { accept: 'text/event-stream, text/html' }, 'mcp'],
    ['GET', 'a client with a session', { accept: HTML, 'mcp-session-id': 'x' }, 'mcp'],
    ['POST', 'a form of a page', { accept: HTML }, 'mcp'],
  ])('routes the %s /mcp of %s with %j to %s', async (method, _client, headers, expected) => {
    for (const path of ['/mcp', '/mcp?x=1', '/projects/a/mcp'])
      expect((await exchange(`http://127.0.0.1:${port}${path}`, { method, headers })).text).toBe(expected);
  });

  it('refuses the GET /mcp of a browser with a foreign Host', async () => {
    expect(await send('/mcp', 'host: evil.example', `accept: ${HTML}`)).toMatch(/^HTTP\/1.1 403 /);
  });

  it.each(['/health/live', '/nowhere'])(
    'answers 400 to a request for %s with two Host headers',
    async (path) => {
      const answered = await send(path, 'Host: localhost', 'hOST: localhost');
      expect(answered).toMatch(/^HTTP\/1.1 400 [\s\S]*several Host headers/);
    },
  );

  it.each([
    ['two Host headers', ['host: localhost', 'host: evil.example'], 'several Host headers'],
    ['a foreign Host', ['host: evil.example'], 'names no host of this gateway'],
    [
      'a foreign Origin',
      ['host: localhost', 'origin: http://evil.example'],
      'of this Origin are not allowed',
    ],
  ])('has the admin API answer a request with %s', async (_what, headers, expected) => {
    for (const path of ['/admin/v1/servers?x=1', '/admin'])
      expect(await send(path, ...headers)).toMatch(new RegExp(`admin: .*${expected}`));
    expect(await send('/administrator', ...headers)).not.toContain('admin:');
  });

  it('registers its server with the dead peer detector', () => {
    expect(watched).toHaveBeenLastCalledWith(server);
  });
});

const describeOnLinux = hasPrerequisite(TCP_TABLE, existsSync(TCP_TABLE)) ? describe : describe.skip;

describeOnLinux('GatewayServer with an idle connection', () => {
  it('probes it after 30 s (TCP keep-alive)', async () => {
    const client = connect(port, '127.0.0.1');
    onCleanup(() => client.destroy());
    await once(client, 'connect');
    await until('the connection is accepted', () => client.localPort !== undefined && accepted > 0);
    const ends = `:${hex(port)} 0100007F:${hex(client.localPort!)}`;
    const line = readFileSync(TCP_TABLE, 'latin1')
      .split('\n')
      .find((row) => row.includes(ends));
    // Timer 02 is keep-alive; its time is in hundredths of a second.
    const [, timer, time] = / (\w\w):(\w{8}) \w{8} /.exec(line!)!;
    expect(timer).toBe('02');
    expect(parseInt(time!, 16)).toBeLessThanOrEqual(3000);
    expect(parseInt(time!, 16)).toBeGreaterThan(2000);
  });
});
