import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Subscribers } from '../subscriptions/subscribers.js';
import type { CatalogLists } from './catalog-lists.js';
import type { ResourceLists } from './resource-lists.js';
import { SessionViews } from './session-views.js';
import type { SessionListings } from '../backends/session-listings.js';
import { Registry } from 'prom-client';
import { AdminHarness } from '../../test/kit/admin-harness.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { flushPromises, outcomeOf } from '../../test/kit/promises.js';
import { deferred, until } from '../../test/kit/until.js';
import { Limits } from '../config/limits.js';
import { ListPage } from '../core/catalog/list-page.js';
import { EVERYTHING } from '../core/scope.js';
import { publicSessionId, type Session } from '../edge/session.js';
import type { Listens } from '../edge/modern/listens.service.js';
import { Sessions } from '../edge/sessions.service.js';
import { FakeResponse } from '../../test/kit/fake-response.js';
import { createListens, listenRequest } from '../../test/kit/listens.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { Metrics } from '../metrics/metrics.js';
import { Projects } from '../projects/projects.service.js';
import { RandomCursorKey } from '../state/random-cursor-key.js';
import { ConnectedClients } from './connected-clients.js';
import { ListRequests } from './list-requests.js';
import { SessionAdmin } from './session-admin.js';
import type { SessionQuery } from './dto/list-query.dto.js';

const START = 1_700_000_000_000;

const countOf = async (metrics: Metrics, series: string): Promise<number> => {
  const line = (await metrics.text()).split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.split(' ').at(-1));
};

describe('SessionAdmin', () => {
  let harness: AdminHarness;
  let sessions: Sessions;
  let listens: Listens;
  let metrics: Metrics;
  let admin: SessionAdmin;

  beforeEach(() => {
    recordLog();
    harness = new AdminHarness({
      mcpServers: { db: { command: 'node' }, off: { command: 'node', enabled: false } },
      projects: { one: { servers: ['db', 'off'] } },
    });
    metrics = new Metrics(new Registry());
    sessions = new Sessions(new Limits(), metrics);
    const projects = new Projects(harness.live, harness.state);
    const requests = new ListRequests(projects, harness.views, new RandomCursorKey());
    const subscribers = { table: { countOfSubscriber: () => 3 } } as unknown as Subscribers;
    const views = new SessionViews(harness.desired, projects, subscribers);
    listens = createListens(sessions.recipients, { metrics });
    admin = new SessionAdmin(
      new ConnectedClients(sessions, listens),
      requests,
      harness.adminActions,
      views,
      {} as SessionListings,
      {} as CatalogLists,
      {} as ResourceLists,
    );
  });

  function open(name: string, openedAt: number, principal = 'anonymous'): Session {
    const previous = { id: `${name}-`.padEnd(64, '0'), openedAt, seenAt: Date.now() };
    const session = sessions.restore({ id: principal, grants: '*' }, previous)!;
    session.profile.set({ capabilities: {}, clientInfo: { name, version: '1' } });
    sessions.add(session);
    return session;
  }

  const names = async (query: SessionQuery = {}): Promise<(string | undefined)[]> =>
    (await admin.page(query)).items.map(({ client }) => client?.name);

  it('shows a session with the servers in its scope', () => {
    const session = open('a', 1);
    const id = session.id.slice(0, 16);
    expect(admin.show(id)).toMatchObject({ id, servers: [], subscriptions: 3, lastSeen: expect.any(String) });
    expect(() => admin.show('nothing')).toThrow('there is no session `nothing`');
  });

  it.each<[string, Session['principal']['grants'], string | undefined, object[]]>([
    ['all servers', '*', undefined, [{ servers: ['db'] }]],
    ['one project', '*', 'one', [{ project: 'one', servers: ['db'] }]],
    [
      'the projects of its principal',
      new Set(['one', 'gone']),
      undefined,
      [
        { project: 'gone', servers: [] },
        { project: 'one', servers: ['db'] },
      ],
    ],
  ])('shows the scope of a session with %s, without disabled servers', (_what, grants, project, scope) => {
    const session = open('a', START);
    session.principal = { id: 'ci', grants };
    session.bindProject(project, EVERYTHING);
    expect(admin.show(publicSessionId(session))).toMatchObject({ scope, servers: ['db'] });
  });

  it('counts the calls of a session, and shows its era and when it was last seen', async () => {
    const session = open('a', START);
    for (const requestId of [1, 2]) {
      const request = { requestId } as Parameters<Session['beginRequest']>[0];
      session.beginRequest(request);
      session.finishRequest(request);
    }
    const [shown] = (await admin.page({})).items;
    expect(shown).toMatchObject({ calls: 2, era: '2025', subscriptions: 3 });
    expect(Date.now() - Date.parse(shown!.lastSeen)).toBeLessThan(60_000);
  });

  it('lists and ends listen streams like sessions', async () => {
    open('a', START);
    const listen = listens.create(
      listenRequest({
        principal: { id: 'ci', grants: '*' },
        project: 'one',
        clientInfo: { name: 'b', version: '2' },
      }),
      ['tools'],
    );
    const client = new FakeResponse();
    listen.open({ takeStream: () => client.response }, {});
    expect((await admin.page({})).items).toMatchObject([
      { kind: 'session', era: '2025' },
      {
        id: listen.id,
        kind: 'listen',
        client: { name: 'b', version: '2' },
        principal: 'ci',
        project: 'one',
        scope: [{ project: 'one', servers: ['db'] }],
        era: '2026',
        protocolVersion: '2026-07-28',
        streams: 1,
        hasStream: true,
        subscriptions: 3,
        listChanges: ['tools'],
      },
    ]);
    expect(await names({ project: 'one' })).toEqual(['b']);
    expect(await names({ q: 'ci' })).toEqual(['b']);
    await admin.close(harness.caller(), listen.id);
    expect(await names()).toEqual(['a']);
    expect(client.messages.at(-1)).toMatchObject({ id: 'listen:0', result: { resultType: 'complete' } });
  });

  it('lists sessions by age, the oldest first, however they were added', async () => {
    open('b', START + 2);
    open('a', START + 1);
    open('c', START + 2);
    expect(await names()).toEqual(['a', 'b', 'c']);
  });

  it('shows the lists that a client has not read to their end', async () => {
    const session = open('a', START);
    const page = new ListPage('{}', Buffer.from('{}'), 3, true, true);
    for (let read = 0; read < 2; read++) session.listReads.pageServed('tools/list', page);
    session.keepAlive(0);
    expect((await admin.page({})).items).toMatchObject([{ unfinishedLists: [] }]);
    jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 10_000);
    session.keepAlive(0);
    expect((await admin.page({})).items).toMatchObject([
      { unfinishedLists: [{ method: 'tools/list', entries: 3 }] },
    ]);
    jest.restoreAllMocks();
    expect(await countOf(metrics, 'gatehouse_unfinished_lists_total{method="tools/list"}')).toBe(2);
  });

  it('pages through the sessions while sessions open and close', async () => {
    const [first] = ['a', 'b', 'c', 'd'].map((name, index) => open(name, START + index));
    const page = await admin.page({ limit: 2 });
    expect(page).toMatchObject({ total: 4, nextCursor: expect.any(String) });
    first!.close();
    open('e', START + 9);
    expect(await names({ limit: 2, cursor: page.nextCursor! })).toEqual(['c', 'd']);
    const last = await admin.page({ limit: 3, cursor: page.nextCursor! });
    expect(last.items.map(({ client }) => client?.name)).toEqual(['c', 'd', 'e']);
    expect(last.nextCursor).toBeUndefined();
  });

  it('answers the close of a session when its end is persisted', async () => {
    const session = open('a', START);
    const written = deferred();
    sessions.waitUntilPersisted = () => written.promise;
    const outcome = outcomeOf(admin.close(harness.caller(), publicSessionId(session)).then(() => 'closed'));
    await until('the session is closed', () => sessions.size === 0);
    await flushPromises();
    expect(outcome).toEqual({});
    written.resolve();
    expect(await until('the answer', () => outcome.value)).toBe('closed');
  });

  it('shows no more than the public part of a session id, also in a cursor', async () => {
    const session = open('a', START);
    open('b', START + 1);
    const { nextCursor } = await admin.page({ limit: 1 });
    const hidden = session.id.slice(publicSessionId(session).length);
    expect(Buffer.from(nextCursor!, 'base64url').toString()).not.toContain(hidden);
  });

  it.each<[string, SessionQuery, string[]]>([
    ['a project', { project: 'one' }, ['a']],
    ['the name of a client', { q: 'A' }, ['a']],
    ['a principal', { q: 'ci-key' }, ['b']],
    ['words of which one does not occur', { q: 'ci-key a nowhere' }, []],
  ])('filters by %s', async (_by, query, expected) => {
    open('a', START, 'human').bindProject('one', EVERYTHING);
    open('b', START + 1, 'ci-key');
    expect(await names(query)).toEqual(expected);
    expect((await admin.page(query)).total).toBe(expected.length);
  });

  it('refuses an unknown project and the cursor of another query', async () => {
    open('a', START);
    open('b', START);
    const { nextCursor } = await admin.page({ limit: 1 });
    await expect(admin.page({ project: 'nope' })).rejects.toMatchObject({ kind: 'not-found' });
    await expect(admin.page({ q: 'x', cursor: nextCursor! })).rejects.toMatchObject({
      kind: 'invalid-input',
    });
  });

  it('lets the event loop run between sessions', async () => {
    ['a', 'b', 'c'].forEach((name) => open(name, START));
    const yieldIfDue = jest.fn(() => Promise.resolve());
    jest.spyOn(sliceScheduler, 'start').mockReturnValueOnce(yieldIfDue);
    expect(await names()).toEqual(['a', 'b', 'c']);
    expect(yieldIfDue).toHaveBeenCalledTimes(3);
  });

  it('closes a session by its public id and records it', async () => {
    const id = publicSessionId(open('a', START));
    await admin.close(harness.caller(), id);
    expect(sessions.size).toBe(0);
    expect(harness.actions).toEqual([`session.close ${id} begun`, `session.close ${id} done`]);
    await expect(admin.close(harness.caller(), id)).rejects.toMatchObject({ kind: 'not-found' });
  });
});
