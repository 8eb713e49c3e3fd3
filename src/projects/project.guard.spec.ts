import { SessionListings } from '../backends/session-listings.js';
import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { liveConfig } from '../../test/kit/config.js';
import { MemoryDecisionStore } from '../../test/kit/memory-decision-store.js';
import { Naming } from '../config/naming.js';
import { Registry } from '../registry/registry.service.js';
import { EVERYTHING, NOTHING } from '../core/scope.js';
import type { McpContext } from '../mcp/mcp-context.js';
import { ANONYMOUS, type Principal } from '../mcp/principal.js';
import { ProjectGuard } from './project.guard.js';
import { Projects } from './projects.service.js';

const content = {
  mcpServers: { git: { command: 'node' }, db: { command: 'node' } },
  projects: { a: { servers: ['git'] }, b: { servers: ['db'] } },
};
const projects = new Projects(liveConfig(content), new MemoryDecisionStore());
const guard = new ProjectGuard(projects, new SessionListings(new Registry(new Naming())));

interface Request {
  readonly named?: readonly string[];
  readonly params?: unknown;
  readonly principal?: Principal;
}

function contextAfterGuard({ named = [], params, principal = ANONYMOUS }: Request): McpContext {
  const context = { namedProjects: named, principal, scope: NOTHING, project: undefined };
  const rpc = { getContext: () => context, getData: () => params };
  const execution = { getType: () => 'rpc', switchToRpc: () => rpc };
  expect(guard.canActivate(execution as unknown as ExecutionContext)).toBe(true);
  return context as unknown as McpContext;
}

const meta = (_meta: unknown): { params: unknown } => ({ params: { _meta } });
const LONG_KEY = 'io.gatehouse/projectId';

describe('ProjectGuard', () => {
  it.each<[string, Request, string]>([
    ['the path, a header or the session', { named: ['a'] }, 'a'],
    ['_meta.projectId', meta({ projectId: 'b' }), 'b'],
    ['the long key in _meta', meta({ [LONG_KEY]: 'b' }), 'b'],
    ['both keys', meta({ projectId: 'a', [LONG_KEY]: 'a' }), 'a'],
    ['everything at once', { named: ['a', 'a', 'a'], ...meta({ projectId: 'a', [LONG_KEY]: 'a' }) }, 'a'],
  ])('reads the project from %s', (_what, request, project) => {
    const context = contextAfterGuard(request);
    expect(context.project).toBe(project);
    expect(context.scope).toBe(projects.scope(ANONYMOUS, project));
  });

  it.each<[string, Request]>([
    ['no params', {}],
    ['no _meta', { params: { name: 'x' } }],
    ['other keys in _meta', meta({ progressToken: 1 })],
    ['a _meta that is not an object', meta('projectId')],
    ['a project elsewhere than in _meta', { params: { projectId: 'a', arguments: { projectId: 'a' } } }],
  ])('sets no project and the full scope with %s', (_what, request) => {
    const context = contextAfterGuard(request);
    expect(context.project).toBeUndefined();
    expect(context.scope).toBe(EVERYTHING);
  });

  it('limits the scope to the grants of the principal', () => {
    const principal = { id: 'k', grants: new Set(['b']) };
    expect(contextAfterGuard({ principal }).scope).toBe(projects.scope(principal));
  });

  it.each<[string, Request]>([
    ['several names in the HTTP request', { named: ['a', 'b'] }],
    ['path and _meta', { named: ['a'], ...meta({ projectId: 'b' }) }],
    ['path and the long key', { named: ['a'], ...meta({ [LONG_KEY]: 'b' }) }],
    ['the two keys', meta({ projectId: 'a', [LONG_KEY]: 'b' })],
    ['the last of many', { named: ['a', 'a'], ...meta({ projectId: 'a', [LONG_KEY]: 'A' }) }],
    ['a project and an empty name', { named: ['a'], ...meta({ projectId: '' }) }],
  ])('refuses different projects: %s', (_what, request) => {
    expect(() => contextAfterGuard(request)).toThrow(expect.objectContaining({ kind: 'invalid-params' }));
  });

  it.each([null, 7, true, {}, ['a'], { a: 1 }])(
    'refuses a project in _meta that is not a string: %j',
    (value) => {
      for (const key of ['projectId', LONG_KEY])
        expect(() => contextAfterGuard(meta({ [key]: value }))).toThrow(
          expect.objectContaining({ kind: 'invalid-params', message: `_meta.${key} must be a string` }),
        );
    },
  );

  it.each(['', 'nowhere', '__proto__', '*', 'A', 'a '])('refuses the unknown project %j', (project) => {
    for (const request of [{ named: [project] }, meta({ projectId: project })])
      expect(() => contextAfterGuard(request)).toThrow(
        expect.objectContaining({ kind: 'project-not-found' }),
      );
  });
});

it('ProjectGuard accepts requests other than MCP messages', () => {
  const execution = { getType: () => 'http' } as unknown as ExecutionContext;
  expect(guard.canActivate(execution)).toBe(true);
});
