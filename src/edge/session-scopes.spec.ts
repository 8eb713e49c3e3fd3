import { ParkingGateway, QuestionedClientCall } from '../../test/kit/parked-call-harness.js';
import { SessionListings } from '../backends/session-listings.js';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { UNFETCHED_LISTING } from '../core/catalog/catalog.js';
import { Clock } from '../../test/kit/auth.js';
import { configOf, liveConfig } from '../../test/kit/config.js';
import { createListens, listenRequest } from '../../test/kit/listens.js';
import { flushPromises } from '../../test/kit/promises.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { deferred } from '../../test/kit/until.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { decideKey } from '../state/decisions.js';
import { isRevokedKey } from '../decisions/effective-decisions.js';
import { MemoryDecisionStore } from '../../test/kit/memory-decision-store.js';
import { hashOf } from '../config/api-key-config.js';
import { HttpSettings } from '../config/http-settings.js';
import { Limits } from '../config/limits.js';
import type { LiveConfig } from '../config/live-config.js';
import { Naming } from '../config/naming.js';
import { ANONYMOUS, type Principal } from '../mcp/principal.js';
import { MemoryQuotas } from '../state/memory-quotas.js';
import { Projects } from '../projects/projects.service.js';
import { Registry } from '../registry/registry.service.js';
import { Authenticator } from './auth/authenticator.js';
import { FanOut } from '../mcp/fan-out.js';
import { LinkOwners } from './modern/link-owners.js';
import { ListChanges } from './list-changes.js';
import { SessionScopes } from './session-scopes.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

const mcpServers = { git: { command: 'node' }, db: { command: 'node' }, bare: { command: 'node' } };
const key = (id: string, more: object = {}): object => ({ id, hash: hashOf(id), projects: ['a'], ...more });

const TOOLS = 'tools';
const PROMPTS = 'prompts';

/** Sessions of a gateway with three servers, one of which lists nothing. */
class Harness {
  readonly live: LiveConfig;
  readonly sessions = new Sessions(new Limits());
  readonly projects: Projects;
  readonly authenticator: Authenticator;
  readonly clock = new Clock();
  readonly decisions = new MemoryDecisionStore();
  readonly parking = new ParkingGateway();
  readonly linkOwners: LinkOwners;
  private runInterval = (): void => {};

  constructor(private content: object) {
    this.live = liveConfig({ mcpServers, ...content });
    this.projects = new Projects(this.live, this.decisions);
    this.authenticator = new Authenticator(this.live.current.auth, this.clock.now, undefined, (each) =>
      isRevokedKey(each, this.decisions.current),
    );
    const { sessions, parking } = this;
    const quotas = new MemoryQuotas();
    this.linkOwners = new LinkOwners(new Limits(), new HttpSettings(), sessions, parking.metrics, quotas);
    this.sessions.onInterval = (listener) => (this.runInterval = listener);
    const registry = new Registry(new Naming());
    for (const [rank, id] of ['git', 'db'].entries()) {
      const listing = { ...UNFETCHED_LISTING, tools: [{ name: 't', text: '{"name":"t"}' }] };
      const prompts = id === 'db' ? [{ name: 'p', text: '{"name":"p"}' }] : [];
      void registry.put({
        id,
        rank,
        listing: { ...listing, prompts },
        style: 'always',
        disabledTools: new Set(),
      });
    }
    const { live, projects, authenticator } = this;
    const listChanges = new ListChanges(
      registry,
      sessions.recipients,
      new FanOut(),
      new SessionListings(registry),
    );
    new SessionScopes(
      live,
      projects,
      authenticator,
      sessions,
      registry,
      listChanges,
      this.decisions,
      this.parking.parked,
      this.linkOwners,
    ).onModuleInit();
  }

  reload(content: object): void {
    this.content = { ...this.content, ...content };
    this.live.replace(configOf({ mcpServers, ...this.content }));
  }

  passInterval(): void {
    this.runInterval();
  }

  /** A session of a ready client, and the kinds of lists it was notified of. */
  open(principal: Principal, project?: string): { session: Session; notified: (string | undefined)[] } {
    const session = this.sessions.create(principal);
    session.bindProject(project, this.projects.scope(principal, project));
    session.isReady = true;
    const notified: (string | undefined)[] = [];
    session.deliver = (_frame, { coalesce }) => notified.push(coalesce);
    this.sessions.add(session);
    return { session, notified };
  }

  async principalOf(token: string): Promise<Principal> {
    return this.authenticator.authenticate({ authorization: `Bearer ${token}` });
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

describe('SessionScopes scope', () => {
  it('follows the project, and the client is notified of changed lists', () => {
    const harness = new Harness(projectsOf(['git']));
    const { session, notified } = harness.open(ANONYMOUS, 'a');
    harness.reload(projectsOf(['git', 'db']));
    expect(session.scope.allows('db')).toBe(true);
    expect(notified).toEqual([TOOLS, PROMPTS]);
    harness.reload(projectsOf(['db']));
    expect(session.scope.allows('git')).toBe(false);
    expect(notified).toEqual([TOOLS, PROMPTS, TOOLS]);
  });

  it('changes at once in many sessions, and their notifications follow in slices', async () => {
    const harness = new Harness(projectsOf(['git']));
    const opened = Array.from({ length: 1500 }, () => harness.open(ANONYMOUS, 'a'));
    const countNotified = (): number => opened.filter(({ notified }) => notified.length > 0).length;
    harness.reload(projectsOf(['db']));
    expect(opened.every(({ session }) => session.scope.allows('db'))).toBe(true);
    expect(countNotified()).toBeLessThan(1000);
    for (let turn = 0; turn < 50; turn++) await flushPromises();
    expect(new Set(opened.map(({ notified }) => notified.join()))).toEqual(new Set([`${TOOLS},${PROMPTS}`]));
  });

  it('stays without a notification when another project changes', () => {
    const harness = new Harness(projectsOf(['git']));
    const { session, notified } = harness.open(ANONYMOUS, 'a');
    const everything = harness.open(ANONYMOUS);
    const before = session.scope.key;
    harness.reload(projectsOf(['git'], ['git']));
    expect(session.scope.key).toBe(before);
    expect([notified, everything.notified]).toEqual([[], []]);
  });

  it('changes without a notification when the added server lists nothing', () => {
    const harness = new Harness(projectsOf(['git']));
    const { session, notified } = harness.open(ANONYMOUS, 'a');
    harness.reload(projectsOf(['git', 'bare']));
    expect(session.scope.allows('bare')).toBe(true);
    expect(notified).toEqual([]);
  });

  it('is empty while the project does not exist', () => {
    const harness = new Harness(projectsOf(['git']));
    const { session, notified } = harness.open(ANONYMOUS, 'a');
    harness.reload({ projects: {} });
    expect(['git', 'db', 'bare'].filter((id) => session.scope.allows(id))).toEqual([]);
    expect(notified).toEqual([TOOLS]);
    harness.reload(projectsOf(['git']));
    expect(session.scope.allows('git')).toBe(true);
    expect(notified).toEqual([TOOLS, TOOLS]);
  });

  it('is the union of the granted projects for a session without a project', async () => {
    const harness = new Harness({ ...projectsOf(['git']), auth: { apiKeys: [key('k')] } });
    const { session, notified } = harness.open(await harness.principalOf('k'));
    expect(session.scope.allows('db')).toBe(false);
    harness.reload(projectsOf(['git', 'db']));
    expect(session.scope.allows('db')).toBe(true);
    expect(notified).toEqual([TOOLS, PROMPTS]);
  });

  it('narrows at once with a token of fewer grants', () => {
    const harness = new Harness(projectsOf(['git']));
    const { session, notified } = harness.open(granted('a', 'b'));
    harness.sessions.get(session.key, granted('a'));
    expect(session.scope.allows('db')).toBe(false);
    expect(notified).toEqual([TOOLS, PROMPTS]);
    harness.sessions.get(session.key, granted('a'));
    expect(notified).toHaveLength(2);
  });

  it('is empty when the new token does not grant the project', () => {
    const harness = new Harness(projectsOf(['git']));
    const { session } = harness.open(granted('a'), 'a');
    harness.sessions.get(session.key, granted('b'));
    expect(['git', 'db'].filter((id) => session.scope.allows(id))).toEqual([]);
  });
});

describe('SessionScopes', () => {
  beforeEach(() => {
    // All work fits into one slice, however slow the machine is.
    jest.spyOn(sliceScheduler, 'start').mockReturnValue(() => undefined);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  const auth = { apiKeys: [key('k'), key('other')] };

  it('cancels the parked calls and closes the link owners of a key that is removed, and no others', async () => {
    const harness = new Harness({ ...projectsOf(['git']), auth });
    const principals = [await harness.principalOf('k'), await harness.principalOf('other')];
    const calls = principals.map((principal) => new QuestionedClientCall(harness.parking, principal));
    for (const call of calls) call.ask();
    const owners = principals.map((principal) =>
      harness.linkOwners.of({ principal, quotaKey: principal.id, sessionHandle: undefined }),
    );
    await flushPromises();
    harness.reload({ auth: { apiKeys: [key('other')] } });
    expect(calls.map(({ error }) => error?.kind)).toEqual(['cancelled', undefined]);
    expect(owners.map((owner) => owner?.isClosed)).toEqual([true, false]);
  });

  it('closes the sessions of a revoked key, and accepts the key again when the decision is cleared', async () => {
    const harness = new Harness({ ...projectsOf(['git']), auth });
    const [mine, other] = [
      harness.open(await harness.principalOf('k')),
      harness.open(await harness.principalOf('other')),
    ];
    harness.decisions.decide((decisions) => decideKey(decisions, 'k', { revoked: [hashOf('k')] }));
    expect([mine, other].map(({ session }) => harness.isOpen(session))).toEqual([false, true]);
    await expect(harness.principalOf('k')).rejects.toMatchObject({ kind: 'unauthorized' });
    harness.reload({ auth: { apiKeys: [key('k'), key('other'), key('new')] } });
    await expect(harness.principalOf('k')).rejects.toMatchObject({ kind: 'unauthorized' });
    harness.decisions.decide((decisions) => decideKey(decisions, 'k', undefined));
    expect(await harness.principalOf('k')).toMatchObject({ id: 'key:k' });
  });

  it('ends the listen streams of a revoked key, and changes the scopes of others', async () => {
    const lines = recordLog();
    const harness = new Harness({ ...projectsOf(['git']), auth });
    const listens = createListens(harness.sessions.recipients);
    const open = async (id: string) => {
      const principal = await harness.principalOf(id);
      const scope = harness.projects.scope(principal, 'a');
      return listens.create(listenRequest({ principal, project: 'a', scope }), ['tools']);
    };
    const [mine, other] = [await open('k'), await open('other')];
    harness.decisions.decide((decisions) => decideKey(decisions, 'k', { revoked: [hashOf('k')] }));
    expect([mine.isClosed, other.isClosed]).toEqual([true, false]);
    expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({
        message: 'listen stream ended: its credentials are no longer valid',
        listen: mine.id,
        principal: 'key:k',
      }),
    );
    harness.reload(projectsOf(['db']));
    expect(['git', 'db'].filter((id) => other.scope.allows(id))).toEqual(['db']);
  });

  it('lets the event loop run while it closes many sessions', async () => {
    const harness = new Harness({ ...projectsOf(['git']), auth });
    const principal = await harness.principalOf('k');
    const opened = Array.from({ length: 3 }, () => harness.open(principal).session);
    const slices = Array.from({ length: 3 }, () => deferred());
    let yields = 0;
    jest.spyOn(sliceScheduler, 'start').mockReturnValueOnce(() => slices[yields++]!.promise);
    harness.decisions.decide((decisions) => decideKey(decisions, 'k', { revoked: [hashOf('k')] }));
    const closed = (): number => opened.filter(({ isClosed }) => isClosed).length;
    for (const [n, slice] of slices.entries()) {
      expect(closed()).toBe(n);
      slice.resolve();
      await flushPromises();
    }
    expect(closed()).toBe(3);
  });

  it('closes only the sessions of a removed key', async () => {
    const harness = new Harness({ ...projectsOf(['git']), auth });
    const [one, other] = [
      harness.open(await harness.principalOf('k')),
      harness.open(await harness.principalOf('other')),
    ];
    harness.reload({ auth: { apiKeys: [key('other')] } });
    expect([one, other].map(({ session }) => harness.isOpen(session))).toEqual([false, true]);
    await expect(harness.principalOf('k')).rejects.toMatchObject({ kind: 'unauthorized' });
  });

  it.each([
    ['grants', { projects: ['b'] }],
    ['expiry', { expires: '2999-01-01' }],
    ['secret', { hash: hashOf('another') }],
  ])('closes a session when its key gets another %s', async (_what, change) => {
    const harness = new Harness({ ...projectsOf(['git']), auth });
    const { session } = harness.open(await harness.principalOf('k'));
    harness.reload({ auth: { apiKeys: [key('k', change)] } });
    expect(harness.isOpen(session)).toBe(false);
  });

  it('keeps a session open when other settings change', async () => {
    const harness = new Harness({ ...projectsOf(['git']), auth });
    const { session } = harness.open(await harness.principalOf('k'));
    harness.reload({ limits: { pageSize: 7 }, auth: { apiKeys: [key('other'), key('k'), key('new')] } });
    harness.passInterval();
    expect(harness.isOpen(session)).toBe(true);
  });

  it('closes anonymous sessions when authentication is configured, and others when it is removed', async () => {
    const harness = new Harness(projectsOf(['git']));
    const anonymous = harness.open(ANONYMOUS);
    harness.reload({ auth });
    expect(harness.isOpen(anonymous.session)).toBe(false);
    const known = harness.open(await harness.principalOf('k'));
    harness.reload({ auth: undefined });
    expect(harness.isOpen(known.session)).toBe(false);
  });

  it('closes a session within seconds after its key expires', async () => {
    const apiKeys = [key('k', { expires: new Date(Date.now() + 60_000).toISOString() })];
    const harness = new Harness({ ...projectsOf(['git']), auth: { apiKeys } });
    const { session } = harness.open(await harness.principalOf('k'));
    harness.passInterval();
    expect(harness.isOpen(session)).toBe(true);
    harness.clock.forward(60_000);
    harness.passInterval();
    expect(harness.isOpen(session)).toBe(false);
  });
});
