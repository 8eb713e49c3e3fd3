import { execFileSync } from 'node:child_process';
import { request, type IncomingMessage } from 'node:http';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import { onCleanup } from '../kit/cleanup.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { openExchange } from '../kit/http.js';
import { BOTH_TYPES } from '../kit/raw-session.js';
import { within } from '../kit/until.js';

/** The routes that answer without credentials. Every other route must refuse; adding one here needs a security review. */
const PUBLIC = [
  'GET /',
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/mcp',
  'GET /health/live',
  'GET /health/ready',
  'GET /health/startup',
  'GET /admin/docs',
  'GET /admin/v1/openapi.json',
  'OPTIONS /mcp',
  'OPTIONS /projects/x/mcp',
];
/** The static files of the admin API's documentation page. */
const PUBLIC_BELOW = '/admin/docs/';

const VERBS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const isPublic = (verb: string, path: string): boolean =>
  PUBLIC.includes(`${verb === 'HEAD' ? 'GET' : verb} ${path}`) ||
  ((verb === 'GET' || verb === 'HEAD') && path.startsWith(PUBLIC_BELOW));

/** The path of a route with values for its parameters. */
const concrete = (route: string): string => route.replaceAll(/:\w+/g, 'x').replaceAll('*', 'x');

describe('a gateway with authentication', () => {
  let gateway: Gateway;
  let paths: string[];
  let requests = 0;

  beforeAll(async () => {
    const options = { encoding: 'utf8', timeout: 30_000 } as const;
    const facts = JSON.parse(execFileSync(process.execPath, ['test/kit/app-facts.mjs'], options)) as {
      routes: string[];
    };
    const known = facts.routes.map((route) => concrete(route.slice(route.indexOf(' ') + 1)));
    const more = ['/mcp', '/projects/x/mcp', '/', '/metrics', '/health', '/admin', '/admin/v1/servers'];
    paths = [...new Set([...known, ...more])].toSorted();
    const jwt = { issuer: 'https://issuer.example', audience: 'https://gateway.example/mcp' };
    const apiKeys = [{ id: 'k', hash: hashOf('key'), projects: ['*'] }];
    gateway = await startGateway({ projects: { x: { servers: [] } }, auth: { apiKeys, jwt } });
  });

  /** The status of a request with the headers of a remote client behind a proxy. */
  async function statusOf(verb: string, path: string, headers: Record<string, string> = {}): Promise<number> {
    const hasBody = ['POST', 'PUT', 'PATCH'].includes(verb);
    const response = await openExchange(gateway.urlOf(path), {
      method: verb,
      // Many invalid tokens of one address are answered late.
      localAddress: `127.0.0.${2 + (requests++ % 200)}`,
      headers: {
        accept: `${BOTH_TYPES}, */*`,
        'x-forwarded-for': '203.0.113.7',
        forwarded: 'for=203.0.113.7',
        ...(hasBody && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(hasBody && { body: INITIALIZE }),
    });
    response.destroy();
    return response.statusCode!;
  }

  it('has more than eight paths to check, among them /mcp and /health/live', () => {
    expect(paths).toEqual(expect.arrayContaining(['/mcp', '/health/live']));
    expect(paths.length).toBeGreaterThan(8);
  });

  it.each<[string, Record<string, string>]>([
    ['no header', {}],
    ['an unknown key', { authorization: 'Bearer wrong' }],
    ['forged user headers', { 'x-user': 'admin', 'x-forwarded-user': 'admin', 'x-remote-user': 'admin' }],
  ])(
    'refuses requests without valid credentials on all but the public routes: %s',
    async (_case, headers) => {
      const open: string[] = [];
      for (const path of paths)
        for (const verb of VERBS) {
          const status = await statusOf(verb, path, headers);
          expect([verb, path, status < 500]).toEqual([verb, path, true]);
          if (status < 300 && !isPublic(verb, path)) open.push(`${verb} ${path} ${status}`);
        }
      expect(open).toEqual([]);
    },
  );

  it.each([
    ['POST', '/nothing', 404],
    ['POST', '/health/live', 404],
    ['POST', '/metrics', 404],
    ['PUT', '/admin/v1/servers/x', 401],
    ['PATCH', '/admin/v1/servers/x', 401],
    ['POST', '/admin/v1/servers/x/enable', 401],
    ['POST', '/admin/nothing', 404],
    ['POST', '/mcp', 401],
  ])('answers %s %s without reading the body', async (verb, path, status) => {
    const response = new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.7' };
      const outgoing = request(gateway.urlOf(path), { method: verb, headers, agent: false }, resolve);
      onCleanup(() => outgoing.destroy());
      outgoing.on('error', reject);
      // The body never ends.
      outgoing.write('[[[[');
    });
    expect((await within('the answer', response)).statusCode).toBe(status);
  });

  it('refuses the key of a client on the admin routes', async () => {
    const open: string[] = [];
    for (const path of paths.filter((one) => one.startsWith('/admin')))
      for (const verb of VERBS) {
        const status = await statusOf(verb, path, { authorization: 'Bearer key' });
        if (status < 300 && !isPublic(verb, path)) open.push(`${verb} ${path} ${status}`);
      }
    expect(open).toEqual([]);
  });

  it('answers on the public routes without credentials', async () => {
    const probes = PUBLIC.filter((route) => /health|well-known|OPTIONS/.test(route));
    for (const route of probes) {
      const [verb = '', path = ''] = route.split(' ');
      const status = await statusOf(verb, path);
      expect([route, status >= 200 && status < 300]).toEqual([route, true]);
    }
  });
});

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
});
