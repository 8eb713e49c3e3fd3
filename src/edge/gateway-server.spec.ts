import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { exchange, type RawResponse } from '../../test/kit/http.js';
import { HttpSettings } from '../config/http-settings.js';
import { DeadPeerDetector } from './dead-peer-detector.js';
import { GatewayServer } from './gateway-server.js';
import { OriginGuard } from './origin.guard.js';

const answer =
  (words: string) =>
  (_request: IncomingMessage, response: ServerResponse): void =>
    void response.end(words);

const watched = jest.fn();
let server: Server;
let port: number;
beforeEach(async () => {
  const deadPeers = new DeadPeerDetector();
  deadPeers.watch = watched;
  const gateway = new GatewayServer(deadPeers);
  server = gateway.create(answer('nest'));
  gateway.setRoutes({ mcp: { handle: answer('mcp') }, originGuard: new OriginGuard(new HttpSettings()) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  onCleanup(() => {
    server.close();
    server.closeAllConnections();
  });
});

const ask = (path: string): Promise<RawResponse> => exchange(`http://127.0.0.1:${port}${path}`);

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

  it('registers its server with the dead peer detector', () => {
    expect(watched).toHaveBeenLastCalledWith(server);
  });
});
