import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AdminHarness } from '../../test/kit/admin-harness.js';
import { FakeServer } from '../../test/kit/fake-server.js';
import { FakeSubscriber } from '../../test/kit/fake-client.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { SubscriptionHarness } from '../../test/kit/subscription-harness.js';
import { RandomCursorKey } from '../state/random-cursor-key.js';
import { Projects } from '../projects/projects.service.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { AdminProblem } from './admin-problem.js';
import { ListRequests } from './list-requests.js';
import type { ChangeFeed } from './change-feed.js';
import { SubscriptionFeedPublisher } from './feed-publishers.js';
import { publicSessionId } from '../edge/session.js';
import { SubscriptionAdmin } from './subscription-admin.js';
import type { SubscriptionQuery } from './dto/list-query.dto.js';

const LINGER_MS = 500;

async function problemOf(act: () => Promise<unknown>): Promise<[string, string]> {
  try {
    await act();
  } catch (error) {
    const { kind, message } = error as AdminProblem;
    return [kind, message];
  }
  throw new Error('it was not refused');
}

describe('SubscriptionAdmin', () => {
  let db: FakeServer;
  let harness: SubscriptionHarness;
  let adminHarness: AdminHarness;
  let admin: SubscriptionAdmin;
  let ann: FakeSubscriber;
  let ben: FakeSubscriber;

  beforeEach(async () => {
    recordLog();
    db = new FakeServer(['x://1', 'x://2', 'x://3']);
    harness = await SubscriptionHarness.open({ db, git: new FakeServer(['x://1', 'y://1']) });
    adminHarness = new AdminHarness({
      mcpServers: { db: { command: 'node' }, git: { command: 'node' } },
      projects: { one: { servers: ['git'] } },
    });
    const requests = new ListRequests(
      new Projects(adminHarness.live, adminHarness.state),
      adminHarness.views,
      new RandomCursorKey(),
    );
    admin = new SubscriptionAdmin(
      harness.subscribers,
      harness.addresses,
      harness.subscriptions,
      requests,
      adminHarness.adminActions,
    );
    [ann, ben] = [new FakeSubscriber('ann'), new FakeSubscriber('ben')];
    ben.clientInfo = { name: "Ben's editor", version: '1' };
    for (const uri of ['resource://db/x://1', 'resource://db/x://2', 'resource://git/x://1']) {
      await harness.pass(1);
      await harness.subscribe(ann, uri);
    }
    await harness.pass(1);
    await harness.subscribe(ben, 'resource://db/x://*');
  });

  const listed = async (query: SubscriptionQuery = {}): Promise<string[]> =>
    (await admin.page(query)).items.map(
      ({ client, uri }) => `${client === publicSessionId(ann) ? 'ann' : 'ben'} ${uri}`,
    );

  it('lists subscriptions with their age, the oldest first, without session ids', async () => {
    expect(await listed()).toEqual([
      'ann resource://db/x://1',
      'ann resource://db/x://2',
      'ann resource://git/x://1',
      'ben resource://db/x://*',
    ]);
    const [row] = [...harness.subscribers.table];
    expect((await admin.page({})).items[0]).toEqual({
      id: row!.id,
      client: publicSessionId({ id: 'ann' }),
      server: 'db',
      uri: 'resource://db/x://1',
      ownUri: 'x://1',
      original: 'x://1',
      since: new Date(row!.since).toISOString(),
      hasStream: true,
    });
  });

  it.each<[string, () => SubscriptionQuery, string[]]>([
    ['a client', () => ({ client: publicSessionId(ben) }), ['ben resource://db/x://*']],
    ['an unknown client', () => ({ client: 'unknown' }), []],
    ['a server', () => ({ server: 'git' }), ['ann resource://git/x://1']],
    ['a project', () => ({ project: 'one' }), ['ann resource://git/x://1']],
    [
      'the URI of a server',
      () => ({ uri: 'x://1' }),
      ['ann resource://db/x://1', 'ann resource://git/x://1'],
    ],
    ['the public URI', () => ({ uri: 'resource://db/x://1' }), ['ann resource://db/x://1']],
    ['an identifier', () => ({ uri: 'git_x___1' }), ['ann resource://git/x://1']],
    ['a pattern', () => ({ uri: 'resource://db/x://*' }), ['ben resource://db/x://*']],
    ['a word of the URI', () => ({ q: '/x://2' }), ['ann resource://db/x://2']],
    ['a word of the server and one of the URI', () => ({ q: 'GIT  x:' }), ['ann resource://git/x://1']],
    ['the name of a client', () => ({ q: "ben's" }), ['ben resource://db/x://*']],
    ['half the id of a client', () => ({ q: publicSessionId(ben).slice(1) }), ['ben resource://db/x://*']],
    ['words of which one does not occur', () => ({ q: 'db nowhere' }), []],
    [
      'client, server and URI together',
      () => ({ client: publicSessionId(ann), server: 'db', uri: 'x://2' }),
      ['ann resource://db/x://2'],
    ],
  ])('filters by %s', async (_by, query, expected) => {
    expect(await listed(query())).toEqual(expected);
    expect((await admin.page(query())).total).toBe(expected.length);
  });

  it('continues after the cursor when subscriptions were added and removed', async () => {
    const first = await admin.page({ limit: 2 });
    expect(first).toMatchObject({ total: 4, nextCursor: expect.any(String) });
    harness.unsubscribe(ann, 'resource://db/x://1');
    harness.unsubscribe(ann, 'resource://db/x://2');
    await harness.pass(1);
    await harness.subscribe(ben, 'resource://git/y://1');
    const second = await admin.page({ limit: 2, cursor: first.nextCursor! });
    expect(second.items.map(({ uri }) => uri)).toEqual(['resource://git/x://1', 'resource://db/x://*']);
    const third = await admin.page({ limit: 2, cursor: second.nextCursor! });
    expect(third.items.map(({ uri }) => uri)).toEqual(['resource://git/y://1']);
    expect(third.nextCursor).toBeUndefined();
  });

  it('lets the event loop run between subscriptions', async () => {
    const yieldIfDue = jest.fn(() => Promise.resolve());
    jest.spyOn(sliceScheduler, 'start').mockReturnValueOnce(yieldIfDue);
    expect(await listed()).toHaveLength(4);
    expect(yieldIfDue).toHaveBeenCalledTimes(4);
  });

  it('refuses the cursor of another list, unknown servers and unknown projects', async () => {
    const { nextCursor } = await admin.page({ limit: 1 });
    for (const query of [
      { cursor: nextCursor!, client: 'x' },
      { cursor: nextCursor!, uri: 'x' },
      { cursor: nextCursor!, q: 'x' },
      { cursor: nextCursor!, server: 'db' },
      { cursor: 'made up' },
    ])
      expect((await problemOf(() => admin.page(query)))[0]).toBe('invalid-input');
    expect(await problemOf(() => admin.page({ server: 'nope' }))).toEqual([
      'not-found',
      'there is no server `nope`',
    ]);
    expect((await problemOf(() => admin.page({ project: 'nope' })))[0]).toBe('not-found');
  });

  it('ends a subscription, records it and unsubscribes at the server', async () => {
    const { id } = (await admin.page({ uri: 'resource://db/x://1' })).items[0]!;
    ben.close();
    await admin.end(adminHarness.caller(), id);
    expect(await listed()).toEqual(['ann resource://db/x://2', 'ann resource://git/x://1']);
    expect(adminHarness.actions).toEqual([`subscription.end ${id} begun`, `subscription.end ${id} done`]);
    await harness.pass(LINGER_MS);
    expect(db.subscriptionRequests.filter((request) => request.startsWith('-')).toSorted()).toEqual([
      '-x://1',
      '-x://3',
    ]);
    db.update('x://1');
    expect(ann.delivered).toEqual([]);
  });

  it('refuses to end an unknown subscription, and one whose end cannot be recorded', async () => {
    await expect(admin.end(adminHarness.caller(), 'nope')).rejects.toThrow('there is no subscription `nope`');
    expect(adminHarness.actions).toEqual(['subscription.end nope refused']);
    adminHarness.auditIsBroken = true;
    const { id } = (await admin.page({})).items[0]!;
    await expect(admin.end(adminHarness.caller(), id)).rejects.toThrow('the log is unavailable');
    expect(await listed()).toHaveLength(4);
  });

  it('publishes new and ended subscriptions while the feed has readers', async () => {
    const published: [string, object][] = [];
    let hasReaders = false;
    const feed = {
      get hasReaders() {
        return hasReaders;
      },
      publish: (kind: string, data: object) => published.push([kind, data]),
    } as unknown as ChangeFeed;
    new SubscriptionFeedPublisher(harness.subscribers, admin, feed).onModuleInit();
    harness.unsubscribe(ann, 'resource://git/x://1');
    expect(published).toEqual([]);
    hasReaders = true;
    const { id, since } = await harness.subscribe(ann, 'resource://git/x://1');
    harness.unsubscribe(ann, 'resource://git/x://1');
    const view = {
      id,
      client: publicSessionId(ann),
      server: 'git',
      uri: 'resource://git/x://1',
      ownUri: 'x://1',
      original: 'x://1',
      since: new Date(since).toISOString(),
      hasStream: true,
    };
    expect(published).toEqual([
      ['subscription', view],
      ['subscription', { id, ended: true }],
    ]);
  });
});
