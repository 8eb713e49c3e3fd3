import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../src/config/load-config.js';
import { codesFor, ERROR_CODES, type ErrorKind } from '../src/core/errors.js';
import { ID_MARK, NAME_MARK, SERVER_MARK } from '../src/core/catalog/public-text.js';
import { MODERN_REVISION, MODERN_VERSIONS } from '../src/mcp/revisions/modern.js';
import {
  LATEST_REVISION,
  revisionOf,
  SUPPORTED_VERSIONS,
  type Revision,
} from '../src/mcp/revisions/revision.js';

/*
 * Values that clients, operators and their scripts rely on. A failing test means that the contract changed: change the
 * value here only together with the changelog.
 */

const read = (text: string) => readConfig({ text, source: 'pins.yaml', env: {} });

let facts: Record<'requests' | 'notifications' | 'routes', string[]> & {
  readonly guards: Readonly<Record<string, readonly string[]>>;
};

beforeAll(() => {
  const options = { encoding: 'utf8', timeout: 30_000 } as const;
  facts = JSON.parse(execFileSync(process.execPath, ['test/kit/app-facts.mjs'], options)) as typeof facts;
});

/** Names of the handlers that match, by the guards that Nest runs before them. */
function handlersByGuards(matches: (name: string) => boolean): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const [name, guards] of Object.entries(facts.guards).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    if (matches(name)) (found[guards.join(' ')] ??= []).push(name);
  return found;
}

/** The handled methods of a revision. */
const methodsOf = (revision: Revision): string[] =>
  facts.requests.filter((method) => revision.methods.has(method)).toSorted();

describe('error kinds', () => {
  it('have their JSON-RPC codes and HTTP statuses', () => {
    expect(Object.entries(ERROR_CODES).map(([kind, { code, http }]) => `${kind} ${code} ${http}`)).toEqual([
      'parse-error -32700 400',
      'invalid-request -32600 400',
      'method-not-found -32601 200',
      'invalid-params -32602 200',
      'tool-not-found -32602 200',
      'prompt-not-found -32602 200',
      'resource-not-found -32002 200',
      'nothing-to-subscribe -32602 200',
      'subscription-failed -31006 200',
      'project-not-found -32602 200',
      'internal -32603 200',
      'server-unavailable -31003 200',
      'timeout -31008 200',
      'cancelled -31099 200',
      'response-lost -31009 200',
      'overloaded -31029 200',
      'limit-exceeded -31029 200',
      'too-many-connections -31029 429',
      'bad-request -32000 400',
      'session-required -32000 400',
      'session-not-found -32001 404',
      'unauthorized -32000 401',
      'insufficient-scope -32000 403',
      'forbidden -32000 403',
      'method-not-allowed -32000 405',
      'not-acceptable -32000 406',
      'payload-too-large -32000 413',
      'unsupported-media-type -32000 415',
      'bad-envelope -32602 400',
      'header-mismatch -32020 400',
      'missing-capability -32021 400',
      'unsupported-version -32022 400',
      'storage-full -31007 507',
      'storage-unavailable -31005 503',
    ]);
  });

  it('have other codes or statuses in revision 2026-07-28', () => {
    const kinds = Object.keys(ERROR_CODES) as ErrorKind[];
    const differing = kinds.flatMap((kind) => {
      const [old, modern] = [codesFor(kind, '2025'), codesFor(kind, '2026')];
      const differs = old.code !== modern.code || old.http !== modern.http;
      return differs ? [`${kind} ${modern.code} ${modern.http}`] : [];
    });
    expect(differing).toEqual([
      'method-not-found -32601 404',
      'resource-not-found -32602 200',
      'bad-request -31400 400',
      'session-required -31400 400',
      'session-not-found -31404 404',
      'unauthorized -31401 401',
      'insufficient-scope -31403 403',
      'forbidden -31403 403',
      'method-not-allowed -31405 405',
      'not-acceptable -31406 406',
      'payload-too-large -31413 413',
      'unsupported-media-type -31415 415',
    ]);
  });

  it('of the gateway have codes outside the range that the protocol reserves', () => {
    const protocolCodes = [
      -32700, -32600, -32601, -32602, -32603, -32000, -32001, -32002, -32020, -32021, -32022,
    ];
    const own = Object.values(ERROR_CODES)
      .map(({ code }) => code as number)
      .filter((code) => !protocolCodes.includes(code));
    expect(own.filter((code) => code >= -32768 && code <= -32000)).toEqual([]);
  });
});

describe('the protocol', () => {
  it('is supported in these revisions, newest first', () => {
    expect(SUPPORTED_VERSIONS).toEqual([
      '2025-11-25',
      '2025-06-18',
      '2025-03-26',
      '2024-11-05',
      '2024-10-07',
    ]);
    expect(LATEST_REVISION.version).toBe('2025-11-25');
    expect(MODERN_VERSIONS).toEqual(['2026-07-28']);
  });

  it('has these methods in each era', () => {
    const both = [
      'completion/complete',
      'prompts/get',
      'prompts/list',
      'resources/list',
      'resources/read',
      'resources/templates/list',
      'tools/call',
      'tools/list',
    ];
    const only2025 = [
      'initialize',
      'logging/setLevel',
      'ping',
      'resources/subscribe',
      'resources/unsubscribe',
    ];
    for (const version of SUPPORTED_VERSIONS)
      expect(methodsOf(revisionOf(version)!)).toEqual([...both, ...only2025].toSorted());
    expect(methodsOf(MODERN_REVISION)).toEqual([...both, 'server/discover'].toSorted());
  });

  it('has these _meta keys for the server and the id of a listed definition', () => {
    expect([SERVER_MARK, NAME_MARK, ID_MARK]).toEqual([
      'io.gatehouse/server',
      'io.gatehouse/name',
      'io.gatehouse/id',
    ]);
  });
});

describe('the application', () => {
  it('has handlers for these MCP requests', () => {
    expect(facts.requests.toSorted()).toEqual([
      'completion/complete',
      'initialize',
      'logging/setLevel',
      'ping',
      'prompts/get',
      'prompts/list',
      'resources/list',
      'resources/read',
      'resources/subscribe',
      'resources/templates/list',
      'resources/unsubscribe',
      'server/discover',
      'tools/call',
      'tools/list',
    ]);
  });

  it('has handlers for these MCP notifications', () => {
    expect(facts.notifications.toSorted()).toEqual([
      'notifications/cancelled',
      'notifications/initialized',
      'notifications/progress',
      'notifications/roots/list_changed',
    ]);
  });

  it('answers these HTTP routes', () => {
    // Fastify adds a HEAD to every GET.
    expect(facts.routes.filter((route) => !route.startsWith('HEAD ')).toSorted()).toEqual([
      'DELETE /admin/v1/decisions/:id',
      'DELETE /admin/v1/projects/:id',
      'DELETE /admin/v1/servers/:id',
      'DELETE /admin/v1/sessions/:id',
      'DELETE /admin/v1/subscriptions/:id',
      'DELETE /mcp',
      'GET /',
      'GET /.well-known/oauth-protected-resource',
      'GET /.well-known/oauth-protected-resource/mcp',
      'GET /admin/docs',
      'GET /admin/docs/:asset',
      'GET /admin/docs/runbooks',
      'GET /admin/docs/runbooks/:alert',
      'GET /admin/docs/start.js',
      'GET /admin/v1/config',
      'GET /admin/v1/decisions',
      'GET /admin/v1/events',
      'GET /admin/v1/keys',
      'GET /admin/v1/openapi.json',
      'GET /admin/v1/projects',
      'GET /admin/v1/projects/:id',
      'GET /admin/v1/prompts',
      'GET /admin/v1/resource-templates',
      'GET /admin/v1/resources',
      'GET /admin/v1/servers',
      'GET /admin/v1/servers/:id',
      'GET /admin/v1/servers/:id/tools',
      'GET /admin/v1/sessions',
      'GET /admin/v1/sessions/:id',
      'GET /admin/v1/sessions/:id/resources',
      'GET /admin/v1/sessions/:id/tools',
      'GET /admin/v1/subscriptions',
      'GET /admin/v1/summary',
      'GET /admin/v1/tools',
      'GET /health',
      'GET /health/live',
      'GET /health/ready',
      'GET /health/startup',
      'GET /mcp',
      'GET /metrics',
      'OPTIONS /mcp',
      'PATCH /admin/v1/servers/:id',
      'POST /admin/v1/config/reload',
      'POST /admin/v1/keys/:id/revoke',
      'POST /admin/v1/servers/:id/disable',
      'POST /admin/v1/servers/:id/enable',
      'POST /admin/v1/servers/:id/reconnect',
      'POST /admin/v1/servers/:id/tools/:tool/disable',
      'POST /admin/v1/servers/:id/tools/:tool/enable',
      'POST /mcp',
      'PUT /admin/v1/projects/:id',
      'PUT /admin/v1/servers/:id',
    ]);
  });

  it('runs these guards before MCP methods', () => {
    expect(handlersByGuards((name) => !name.includes(' /'))).toEqual({
      ProjectGuard: [
        'completion/complete',
        'initialize',
        'logging/setLevel',
        'notifications/cancelled',
        'notifications/initialized',
        'notifications/progress',
        'notifications/roots/list_changed',
        'ping',
        'prompts/get',
        'prompts/list',
        'resources/list',
        'resources/read',
        'resources/templates/list',
        'resources/unsubscribe',
        'server/discover',
        'tools/call',
        'tools/list',
      ],
      'ProjectGuard SubscriptionLimitGuard': ['resources/subscribe'],
    });
  });

  // ProjectGuard is global and accepts every HTTP request: it checks MCP messages, which may name the project.
  it('runs these guards before HTTP routes', () => {
    expect(handlersByGuards((name) => name.includes(' /'))).toEqual({
      'ProjectGuard AdminGuard': [
        'DELETE /admin/v1/decisions/:id',
        'DELETE /admin/v1/projects/:id',
        'DELETE /admin/v1/servers/:id',
        'DELETE /admin/v1/sessions/:id',
        'DELETE /admin/v1/subscriptions/:id',
        'GET /admin/v1/config',
        'GET /admin/v1/decisions',
        'GET /admin/v1/events',
        'GET /admin/v1/keys',
        'GET /admin/v1/projects',
        'GET /admin/v1/projects/:id',
        'GET /admin/v1/prompts',
        'GET /admin/v1/resource-templates',
        'GET /admin/v1/resources',
        'GET /admin/v1/servers',
        'GET /admin/v1/servers/:id',
        'GET /admin/v1/servers/:id/tools',
        'GET /admin/v1/sessions',
        'GET /admin/v1/sessions/:id',
        'GET /admin/v1/sessions/:id/resources',
        'GET /admin/v1/sessions/:id/tools',
        'GET /admin/v1/subscriptions',
        'GET /admin/v1/summary',
        'GET /admin/v1/tools',
        'PATCH /admin/v1/servers/:id',
        'POST /admin/v1/config/reload',
        'POST /admin/v1/keys/:id/revoke',
        'POST /admin/v1/servers/:id/disable',
        'POST /admin/v1/servers/:id/enable',
        'POST /admin/v1/servers/:id/reconnect',
        'POST /admin/v1/servers/:id/tools/:tool/disable',
        'POST /admin/v1/servers/:id/tools/:tool/enable',
        'PUT /admin/v1/projects/:id',
        'PUT /admin/v1/servers/:id',
      ],
      'OriginGuard AuthenticationGuard ConnectionGuard': ['DELETE /mcp', 'GET /mcp', 'POST /mcp'],
      ProjectGuard: [
        'GET /',
        'GET /.well-known/oauth-protected-resource',
        'GET /.well-known/oauth-protected-resource/mcp',
        'GET /admin/docs',
        'GET /admin/docs/:asset',
        'GET /admin/docs/runbooks',
        'GET /admin/docs/runbooks/:alert',
        'GET /admin/docs/start.js',
        'GET /admin/v1/openapi.json',
        'GET /health/live',
        'GET /health/ready',
        'GET /health/startup',
      ],
      'ProjectGuard OperatorGuard': ['GET /health', 'GET /metrics'],
      OriginGuard: ['OPTIONS /mcp'],
    });
    expect(Object.keys(facts.guards).filter((name) => name.includes(' /'))).toHaveLength(
      facts.routes.filter((route) => !route.startsWith('HEAD ')).length,
    );
  });
});

describe('the configuration', () => {
  it('has these defaults', () => {
    expect(read('{}')).toMatchObject({
      http: { host: '127.0.0.1', port: 3000, allowedHosts: [], allowedOrigins: [], trustedProxies: [] },
      stateDir: '.gatehouse',
      naming: { tools: 'always', separator: '__' },
      limits: {
        sessions: 10000,
        sessionsPerPrincipal: 2000,
        streamsPerPrincipal: 2000,
        connectionsPerPrincipal: 4000,
        callsPerPrincipal: 512,
        queuedPerPrincipal: 1000,
        processesPerPrincipal: 32,
        pageSize: 1000,
        requestBytes: 4194304,
      },
    });
  });

  it('has these defaults of a server', () => {
    const { mcpServers } = read(
      'mcpServers: { fs: { command: npx }, github: { url: "https://x.example/mcp" } }',
    );
    const common = { enabled: true, timeoutMs: 60000, tools: { disabled: [] } };
    const stdio = { type: 'stdio', args: [], env: {}, concurrency: 16, queue: 1000 };
    expect(mcpServers.get('fs')).toMatchObject({ ...common, ...stdio });
    const http = { type: 'http', headers: {}, concurrency: 64, queue: 2000 };
    expect(mcpServers.get('github')).toMatchObject({ ...common, ...http });
  });
});
