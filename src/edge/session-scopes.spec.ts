import { beforeEach, describe, expect, it } from '@jest/globals';
import { EMPTY_LISTING } from '../core/catalog/catalog.js';
import { Clock } from '../../test/kit/auth.js';
import { configOf, liveConfig } from '../../test/kit/config.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { MemoryState } from '../../test/kit/memory-state.js';
import { hashOf } from '../config/api-key-config.js';
import { Limits } from '../config/limits.js';
import type { LiveConfig } from '../config/live-config.js';
import { Naming } from '../config/naming.js';
import { ANONYMOUS, type Principal } from '../mcp/principal.js';
import { Projects } from '../projects/projects.service.js';
import { Registry } from '../registry/registry.service.js';
import { Authenticator } from './auth/authenticator.js';
import { FanOut } from '../mcp/fan-out.js';
import { ListChanges } from './list-changes.js';
import { SessionScopes } from './session-scopes.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

const mcpServers = { git: { command: 'node' }, db: { command: 'node' }, bare: { command: 'node' } };
const key = (id: string, more: object = {}): object => ({ id, hash: hashOf(id), projects: ['a'], ...more });

const TOOLS = 'tools';
const PROMPTS = 'prompts';

/** A gateway of three servers, one of which offers nothing; what follows is about its sessions. */
class House {
  readonly live: LiveConfig;
  readonly sessions = new Sessions(new Limits());
  readonly projects: Projects;
  readonly authenticator: Authenticator;
  readonly clock = new Clock();
  private tend = (): void => {};

  constructor(private content: object) {
    this.live = liveConfig({ mcpServers, ...content });
    this.projects = new Projects(this.live, new MemoryState());
    this.authenticator = new Authenticator(this.live.current.auth, this.clock.now);
    this.sessions.onInterval = (listener) => (this.tend = listener);
    const registry = new Registry(new Naming());
    for (const [rank, id] of ['git', 'db'].entries()) {
      const listing = { ...EMPTY_LISTING, tools: [{ name: 't', text: '{"name":"t"}' }] };
      const prompts = id === 'db' ? [{ name: 'p', text: '{"name":"p"}' }] : [];
      void registry.put({
        id,
        rank,
        listing: { ...listing, prompts },
        style: 'always',
        disabledTools: new Set(),
      });
    }
    const { live, projects, authenticator, sessions } = this;
    const listChanges = new ListChanges(registry, sessions.recipients, new FanOut());
    new SessionScopes(live, projects, authenticator, sessions, registry, listChanges).onModuleInit();
  }

  /** The file changes. */
  reload(content: object): void {
    this.content = { ...this.content, ...content };
    this.live.replace(configOf({ mcpServers, ...this.content }));
  }

  /** Some seconds pass. */
  pass(): void {
    this.tend();
  }

  /** A client that is ready, and the kinds of lists it is told of. */
  open(principal: Principal, project?: string): { session: Session; told: (string | undefined)[] } {
    const session = this.sessions.create(principal);
    session.bindProject(project, this.projects.scope(principal, project));
    session.isReady = true;
    const told: (string | undefined)[] = [];
    session.deliver = (_frame, { coalesce }) => told.push(coalesce);
    this.sessions.add(session);
    return { session, told };
  }

  async holder(of: string): Promise<Principal> {
    return this.authenticator.authenticate({ authorization: `Bearer ${of}` });
  }

  isOpen(session: Session): boolean {
    return [...this.sessions.all()].includes(session);
  }
}

const projectsOf = (a: string[], b: string[] = ['db']): object => ({
  projects: { a: { servers: a }, b: { servers: b } },
});

const granted = (...projects: string[]): Principal => ({ id: 'sub', grants: new Set(projects) });

beforeEach(() => void recordLog());

describe('what an open session sees', () => {
  it('follows its project, and it is told of the lists that changed by that', () => {
    const house = new House(projectsOf(['git']));
    const { session, told } = house.open(ANONYMOUS, 'a');
    house.reload(projectsOf(['git', 'db']));
    expect(session.scope.allows('db')).toBe(true);
    expect(told).toEqual([TOOLS, PROMPTS]);
    house.reload(projectsOf(['db']));
    expect(session.scope.allows('git')).toBe(false);
    expect(told).toEqual([TOOLS, PROMPTS, TOOLS]);
  });

  it('stays, and it is told of nothing, when another project changes', () => {
    const house = new House(projectsOf(['git']));
    const { session, told } = house.open(ANONYMOUS, 'a');
    const everything = house.open(ANONYMOUS);
    const before = session.scope.key;
    house.reload(projectsOf(['git'], ['git']));
    expect(session.scope.key).toBe(before);
    expect([told, everything.told]).toEqual([[], []]);
  });

  it('changes in silence when the server that comes offers nothing', () => {
    const house = new House(projectsOf(['git']));
    const { session, told } = house.open(ANONYMOUS, 'a');
    house.reload(projectsOf(['git', 'bare']));
    expect(session.scope.allows('bare')).toBe(true);
    expect(told).toEqual([]);
  });

  it('is nothing once its project is gone, and comes back with it', () => {
    const house = new House(projectsOf(['git']));
    const { session, told } = house.open(ANONYMOUS, 'a');
    house.reload({ projects: {} });
    expect(['git', 'db', 'bare'].filter((id) => session.scope.allows(id))).toEqual([]);
    expect(told).toEqual([TOOLS]);
    house.reload(projectsOf(['git']));
    expect(session.scope.allows('git')).toBe(true);
    expect(told).toEqual([TOOLS, TOOLS]);
  });

  it('is what its principal may see in all projects, when it was opened in none', async () => {
    const house = new House({ ...projectsOf(['git']), auth: { apiKeys: [key('k')] } });
    const { session, told } = house.open(await house.holder('k'));
    expect(session.scope.allows('db')).toBe(false);
    house.reload(projectsOf(['git', 'db']));
    expect(session.scope.allows('db')).toBe(true);
    expect(told).toEqual([TOOLS, PROMPTS]);
  });

  it('narrows at once when its client comes with a token of fewer grants', () => {
    const house = new House(projectsOf(['git']));
    const { session, told } = house.open(granted('a', 'b'));
    house.sessions.get(session.key, granted('a'));
    expect(session.scope.allows('db')).toBe(false);
    expect(told).toEqual([TOOLS, PROMPTS]);
    house.sessions.get(session.key, granted('a'));
    expect(told).toHaveLength(2);
  });

  it('is nothing when the new token does not hold its project', () => {
    const house = new House(projectsOf(['git']));
    const { session } = house.open(granted('a'), 'a');
    house.sessions.get(session.key, granted('b'));
    expect(['git', 'db'].filter((id) => session.scope.allows(id))).toEqual([]);
  });
});

describe('a session', () => {
  const auth = { apiKeys: [key('k'), key('other')] };

  it('ends at once when its key is taken away, and no other does', async () => {
    const house = new House({ ...projectsOf(['git']), auth });
    const [one, other] = [house.open(await house.holder('k')), house.open(await house.holder('other'))];
    house.reload({ auth: { apiKeys: [key('other')] } });
    expect([one, other].map(({ session }) => house.isOpen(session))).toEqual([false, true]);
    await expect(house.holder('k')).rejects.toMatchObject({ kind: 'unauthorized' });
  });

  it.each([
    ['grants', { projects: ['b'] }],
    ['end', { expires: '2999-01-01' }],
    ['secret', { hash: hashOf('another') }],
  ])('ends when its key gets another %s', async (_what, change) => {
    const house = new House({ ...projectsOf(['git']), auth });
    const { session } = house.open(await house.holder('k'));
    house.reload({ auth: { apiKeys: [key('k', change)] } });
    expect(house.isOpen(session)).toBe(false);
  });

  it('goes on when the file changes elsewhere', async () => {
    const house = new House({ ...projectsOf(['git']), auth });
    const { session } = house.open(await house.holder('k'));
    house.reload({ limits: { pageSize: 7 }, auth: { apiKeys: [key('other'), key('k'), key('new')] } });
    house.pass();
    expect(house.isOpen(session)).toBe(true);
  });

  it('of nobody ends when somebody is required, and the other way round', async () => {
    const house = new House(projectsOf(['git']));
    const anonymous = house.open(ANONYMOUS);
    house.reload({ auth });
    expect(house.isOpen(anonymous.session)).toBe(false);
    const known = house.open(await house.holder('k'));
    house.reload({ auth: undefined });
    expect(house.isOpen(known.session)).toBe(false);
  });

  it('ends within seconds when its key expires', async () => {
    const apiKeys = [key('k', { expires: new Date(Date.now() + 60_000).toISOString() })];
    const house = new House({ ...projectsOf(['git']), auth: { apiKeys } });
    const { session } = house.open(await house.holder('k'));
    house.pass();
    expect(house.isOpen(session)).toBe(true);
    house.clock.forward(60_000);
    house.pass();
    expect(house.isOpen(session)).toBe(false);
  });
});
