import { beforeEach, describe, expect, it } from '@jest/globals';
import { configOf, liveConfig } from '../../test/kit/config.js';
import { MemoryDecisionStore } from '../../test/kit/memory-decision-store.js';
import { decideProject } from '../state/decisions.js';
import type { ProjectDecision } from '../state/decision-store.js';
import type { LiveConfig } from '../config/live-config.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import type { Principal } from '../mcp/principal.js';
import { Projects } from './projects.service.js';

const SERVERS = ['git', 'db', 'files'];
const mcpServers = Object.fromEntries(SERVERS.map((id) => [id, { command: 'node' }]));
const pay = { servers: ['git', 'db'], description: 'money' };
const content = { mcpServers, projects: { pay, ops: { servers: ['files'] }, empty: { servers: [] } } };

const unrestricted: Principal = { id: 'a', grants: '*' };
const granted = (...projects: string[]): Principal => ({ id: 'k', grants: new Set(projects) });
const serversIn = (scope: Scope): string[] => SERVERS.filter((server) => scope.allows(server));

describe('Projects', () => {
  let live: LiveConfig;
  let state: MemoryDecisionStore;
  let projects: Projects;

  beforeEach(() => {
    live = liveConfig(content);
    state = new MemoryDecisionStore();
    projects = new Projects(live, state);
  });

  const decide = (id: string, decision: ProjectDecision | undefined): void =>
    void state.decide((decisions) => decideProject(decisions, id, decision));

  const ids = (): string[] => [...projects.all()].map(({ id }) => id);

  it('follow the file with the policy file, beside added ones', () => {
    decide('pay', { servers: [] });
    decide('ops', { removed: true });
    decide('new', { servers: ['git'] });
    expect(projects.find('pay')).toMatchObject({ servers: [], origin: 'admin' });
    live.replace(configOf({ ...content, decisions: { policy: 'file' } }));
    expect(projects.find('pay')).toMatchObject({ servers: ['git', 'db'], origin: 'config' });
    expect(ids()).toEqual(expect.arrayContaining(['ops', 'new']));
  });

  describe('scope', () => {
    it.each([
      ['everything with all grants', unrestricted, undefined, SERVERS],
      ['one project with all grants, if the request names it', unrestricted, 'pay', ['git', 'db']],
      ['nothing in an empty project', unrestricted, 'empty', []],
      ['all granted projects, if the request names none', granted('pay', 'ops'), undefined, SERVERS],
      ['one granted project, if the request names it', granted('pay', 'ops'), 'ops', ['files']],
      ['nothing without grants', granted(), undefined, []],
      ['nothing with a grant for a project that does not exist', granted('gone'), undefined, []],
    ])('is %s', (_what, principal, project, servers) => {
      expect(serversIn(projects.scope(principal, project))).toEqual(servers);
    });

    it('is one value for all principals with full access', () => {
      expect(projects.scope(unrestricted)).toBe(EVERYTHING);
    });

    it('has one key for equal sets of servers', () => {
      const scopes = [
        projects.scope(unrestricted, 'pay'),
        projects.scope(granted('pay')),
        projects.scope(granted('empty', 'pay')),
        projects.scope(granted('pay', 'empty')),
      ];
      expect(new Set(scopes.map(({ key }) => key)).size).toBe(1);
      expect(projects.scope(granted('pay', 'ops')).key).not.toBe(projects.scope(granted('ops')).key);
    });

    it('includes future servers only with full access', () => {
      expect(projects.scope(unrestricted).allows('later')).toBe(true);
      expect(projects.scope(granted('pay', 'ops')).allows('later')).toBe(false);
    });
  });

  it.each([
    ['unknown', unrestricted, 'nowhere'],
    ['forbidden', granted('ops'), 'pay'],
    ['granted but missing', granted('gone'), 'gone'],
    ['empty', unrestricted, ''],
    ['a member of Object.prototype', unrestricted, '__proto__'],
    ['the wildcard of grants', granted('pay'), '*'],
  ])('refuses a project that is %s with the same error', (_what, principal, project) => {
    expect(() => projects.scope(principal, project)).toThrow(
      expect.objectContaining({
        kind: 'project-not-found',
        message: `Unknown project: ${project}`,
        data: undefined,
      }),
    );
  });

  describe('with decisions of administrators', () => {
    it('adds projects to those of the configuration or replaces them', () => {
      decide('new', { servers: ['files'] });
      decide('pay', { servers: ['files'], description: 'less' });
      expect(ids()).toEqual(['pay', 'ops', 'empty', 'new']);
      expect(projects.find('pay')).toEqual({
        id: 'pay',
        servers: ['files'],
        description: 'less',
        origin: 'admin',
      });
      expect(projects.find('ops')).toMatchObject({ origin: 'config' });
      expect(serversIn(projects.scope(granted('pay')))).toEqual(['files']);
    });

    it('hides removed projects until the decision is withdrawn', () => {
      decide('pay', { removed: true });
      expect(ids()).toEqual(['ops', 'empty']);
      expect(() => projects.scope(unrestricted, 'pay')).toThrow('Unknown project: pay');
      expect(serversIn(projects.scope(granted('pay')))).toEqual([]);
      decide('pay', undefined);
      expect(projects.find('pay')).toMatchObject({ ...pay, origin: 'config' });
    });
  });

  it('follows the configuration and drops cached scopes', () => {
    expect(serversIn(projects.scope(granted('pay')))).toEqual(['git', 'db']);
    live.replace(configOf({ mcpServers, projects: { pay: { servers: ['db'] } } }));
    expect(ids()).toEqual(['pay']);
    expect(serversIn(projects.scope(granted('pay')))).toEqual(['db']);
    expect(serversIn(projects.scope(unrestricted, 'pay'))).toEqual(['db']);
  });

  it('calls listeners after changes of configuration and decisions', () => {
    const received: string[][] = [];
    const removeListener = projects.onChange(() => received.push(ids()));
    decide('new', { servers: [] });
    live.replace(configOf({ mcpServers }));
    removeListener();
    decide('new', undefined);
    expect(received).toEqual([['pay', 'ops', 'empty', 'new'], ['new']]);
  });
});
