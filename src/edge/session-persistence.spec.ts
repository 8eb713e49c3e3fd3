import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createListens, listenRequest } from '../../test/kit/listens.js';
import { outcomeOf } from '../../test/kit/promises.js';
import { MemorySessionRecords, storedSession } from '../../test/kit/session-records.js';
import type { SessionRecord } from '../state/session-records.js';
import { NO_AUTH } from '../config/auth-settings.js';
import { Limits } from '../config/limits.js';
import { EVERYTHING } from '../core/scope.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { ANONYMOUS } from '../mcp/principal.js';
import { Metrics } from '../metrics/metrics.js';
import { Subscribers } from '../subscriptions/subscribers.js';
import { Authenticator } from './auth/authenticator.js';
import { SessionPersistence } from './session-persistence.js';
import type { SessionRestorer } from './session-restorer.js';
import { sessionIdOf, type Session } from './session.js';
import { Sessions } from './sessions.service.js';

const IDLE_MS = 800_000;

describe('SessionPersistence', () => {
  let records: MemorySessionRecords;
  let sessions: Sessions;
  let subscribers: Subscribers;
  let persistence: SessionPersistence;

  beforeEach(async () => {
    jest.useFakeTimers();
    const limits = Object.assign(new Limits(), { sessionIdleMs: IDLE_MS });
    records = new MemorySessionRecords();
    sessions = new Sessions(limits);
    sessions.onModuleInit();
    subscribers = new Subscribers(limits);
    persistence = await start();
  });
  afterEach(() => void jest.useRealTimers());

  async function start(...restored: Session[]): Promise<SessionPersistence> {
    const restorer = { restoreAll: () => Promise.resolve(restored) } as unknown as SessionRestorer;
    const authenticator = new Authenticator(NO_AUTH);
    const dependencies = [restorer, records, sessions, subscribers, authenticator, new Metrics()] as const;
    const started = new SessionPersistence(...dependencies);
    await started.onModuleInit();
    return started;
  }

  function open(): Session {
    const session = sessions.create(ANONYMOUS);
    const clientInfo = { name: 'c', version: '1' };
    session.profile.set({ capabilities: { roots: {} }, clientInfo });
    session.bindProject('one', EVERYTHING);
    sessions.add(session);
    return session;
  }

  const subscribe = (session: Session, uri = 'x://a') =>
    subscribers.add(session, { server: 'docs', uri }).subscription;

  const stored = (): SessionRecord[] => [...records.stored.all()];

  it('stores nothing of a listen stream, which ends with the process', () => {
    const added = jest.spyOn(records, 'addSubscription');
    const removed = jest.spyOn(records, 'removeSubscription');
    const listen = createListens(sessions.recipients).create(listenRequest(), []);
    const { subscription } = subscribers.add(listen, { server: 'docs', uri: 'x://a' });
    subscribers.remove(subscription.id);
    expect([added.mock.calls, removed.mock.calls]).toEqual([[], []]);
  });

  it('stores every session when it is opened', () => {
    const ids = [open().id, open().id];
    expect(stored().map(({ session }) => session.id)).toEqual(ids);
  });

  it('stores what is needed to restore the session', () => {
    const session = open();
    const { id, since } = subscribe(session);
    expect(stored()).toEqual([
      {
        session: {
          id: session.id,
          principal: { id: 'anonymous', grants: '*', terms: '' },
          project: 'one',
          revision: '2025-11-25',
          profile: '{"capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}',
          opened: session.openedAt,
        },
        seen: Date.now(),
        subscriptions: [{ id, server: 'docs', uri: 'x://a', since }],
      },
    ]);
    expect(JSON.stringify(stored())).not.toContain(session.key);
  });

  it('counts the subscriptions of a restored anonymous session by its address from its first request on', () => {
    const previous = { id: sessionIdOf('key'), openedAt: Date.now(), seenAt: Date.now() };
    const session = sessions.restore(ANONYMOUS, previous)!;
    session.bindProject('one', EVERYTHING);
    sessions.add(session);
    subscribers.restore(session, { id: 'r', server: 'docs', uri: 'x://a', since: 1 });
    expect(subscribers.table.countOfPrincipal(ANONYMOUS.id)).toBe(0);
    sessions.get('key', ANONYMOUS, 'address 10.0.0.1');
    expect(subscribers.table.countOfPrincipal('address 10.0.0.1')).toBe(1);
  });

  it('stores whether the URI is that of a resource or a pattern', () => {
    subscribers.add(open(), { server: 'docs', uri: 'x://*', isExact: true });
    expect(stored()[0]!.subscriptions).toMatchObject([{ uri: 'x://*', isExact: true }]);
  });

  it('removes the record with the session, and a subscription with its row', () => {
    const [one, two] = [open(), open()];
    const row = subscribe(one);
    subscribe(two);
    two.close();
    expect(stored().map(({ session }) => session.id)).toEqual([one.id]);
    subscribers.remove(row.id);
    expect(stored()).toMatchObject([{ session: { id: one.id }, subscriptions: [] }]);
  });

  it('removes the record of a session that has expired', () => {
    open();
    jest.advanceTimersByTime(2 * IDLE_MS);
    expect(stored()).toEqual([]);
  });

  it('writes the last activity when it is told to', async () => {
    const session = open();
    jest.advanceTimersByTime(3000);
    session.touch();
    jest.advanceTimersByTime(1000);
    await persistence.writeActivity();
    expect(stored()).toMatchObject([{ seen: Date.now() - 1000 }]);
  });

  it('writes the last activity in slices, without sessions that are closed meanwhile', async () => {
    const opened = [open(), open(), open()];
    jest.advanceTimersByTime(3000);
    for (const session of opened) session.touch();
    const slices = jest.spyOn(sliceScheduler, 'start').mockReturnValue(() => Promise.resolve());
    const touched = jest.spyOn(records, 'touch');
    const written = persistence.writeActivity();
    opened[0]!.close();
    await written;
    expect(touched.mock.calls.map(([id]) => id)).toEqual([opened[1]!.id, opened[2]!.id]);
    slices.mockRestore();
  });

  it('writes the last activity periodically and not with every request', () => {
    const session = open();
    const touched = jest.spyOn(records, 'touch');
    const end = Date.now() + IDLE_MS / 2;
    while (Date.now() < end) {
      jest.advanceTimersByTime(1000);
      session.touch();
    }
    expect(touched.mock.calls.length).toBeGreaterThanOrEqual(3);
    expect(touched.mock.calls.length).toBeLessThanOrEqual(4);
    expect(end - stored()[0]!.seen).toBeLessThanOrEqual(IDLE_MS / 8 + 5000);
  });

  it('stores a changed log level at once', async () => {
    const session = open();
    session.logLevel = 'error';
    await sessions.persistChange(session);
    expect(stored()[0]!.session.logLevel).toBe('error');
  });

  it.each([
    ['sessions', () => sessions.waitUntilPersisted()],
    ['subscribers', () => subscribers.waitUntilPersisted()],
  ])('lets %s wait until the records are written, but not longer than a second', async (_who, wait) => {
    await wait();
    jest.spyOn(records, 'flush').mockReturnValue(new Promise(() => {}));
    const outcome = outcomeOf(wait().then(() => true));
    await jest.advanceTimersByTimeAsync(999);
    expect(outcome.value).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(outcome.value).toBe(true);
  });

  it('writes the activity of a restored session after its first request, however recent the restart', async () => {
    const seenAt = Date.now() - IDLE_MS / 2;
    const session = sessions.restore(ANONYMOUS, { id: 'a', openedAt: 1, seenAt })!;
    records.put(storedSession('a'), seenAt);
    await start(session);
    jest.advanceTimersByTime(5000);
    expect(stored()).toMatchObject([{ seen: seenAt }]);
    session.touch();
    jest.advanceTimersByTime(5000);
    expect(stored()).toMatchObject([{ seen: Date.now() - 5000 }]);
  });
});
