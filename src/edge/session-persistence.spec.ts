import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { outcomeOf } from '../../test/kit/promises.js';
import { MemorySessionRecords } from '../../test/kit/session-records.js';
import type { SessionRecord } from '../state/session-records.js';
import { NO_AUTH } from '../config/auth-settings.js';
import { Limits } from '../config/limits.js';
import { EVERYTHING } from '../core/scope.js';
import { ANONYMOUS } from '../mcp/principal.js';
import { LATEST_REVISION } from '../mcp/revisions/revision.js';
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
    const restorer = { restoreAll: () => Promise.resolve([]) } as unknown as SessionRestorer;
    const authenticator = new Authenticator(NO_AUTH);
    persistence = new SessionPersistence(
      restorer,
      records,
      sessions,
      subscribers,
      authenticator,
      new Metrics(),
    );
    await persistence.onModuleInit();
  });
  afterEach(() => void jest.useRealTimers());

  function open(clientInfo: unknown = { name: 'c', version: '1' }): Session {
    const session = sessions.create(ANONYMOUS);
    session.initialize({
      revision: LATEST_REVISION,
      capabilities: { roots: {} },
      clientInfo: clientInfo as never,
    });
    session.bindProject('one', EVERYTHING);
    sessions.add(session);
    return session;
  }

  const subscribe = (session: Session, uri = 'x://a') =>
    subscribers.add(session, { server: 'docs', uri }).subscription;

  const stored = (): SessionRecord[] => [...records.stored];

  it('stores nothing of a session without subscriptions', () => {
    open();
    expect(stored()).toEqual([]);
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
          capabilities: { roots: {} },
          clientInfo: { name: 'c', version: '1' },
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

  it('removes the record with the last subscription and with the session', () => {
    const [one, two] = [open(), open()];
    const rows = [subscribe(one), subscribe(one, 'x://b')];
    subscribe(two);
    subscribers.remove(rows[0]!.id);
    expect(stored().map(({ subscriptions }) => subscriptions.length)).toEqual([1, 1]);
    two.close();
    expect(stored().map(({ session }) => session.id)).toEqual([one.id]);
    subscribers.remove(rows[1]!.id);
    expect(stored()).toEqual([]);
  });

  it('keeps the record with the last activity at shutdown', () => {
    const session = open();
    subscribe(session);
    jest.advanceTimersByTime(3000);
    session.touch();
    jest.advanceTimersByTime(1000);
    persistence.stop();
    session.close();
    expect(stored()).toMatchObject([{ seen: Date.now() - 1000, subscriptions: [{ uri: 'x://a' }] }]);
  });

  it('writes the last activity periodically and not with every request', () => {
    const session = open();
    subscribe(session);
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

  it('stores a changed log level', () => {
    const session = open();
    subscribe(session);
    session.logLevel = 'error';
    jest.advanceTimersByTime(5000);
    expect(stored()[0]!.session.logLevel).toBe('error');
  });

  it('waits until the record is written, but not longer than a second', async () => {
    subscribe(open());
    await subscribers.waitUntilPersisted();
    jest.spyOn(records, 'flush').mockReturnValue(new Promise(() => {}));
    const outcome = outcomeOf(subscribers.waitUntilPersisted().then(() => true));
    await jest.advanceTimersByTimeAsync(999);
    expect(outcome.value).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(outcome.value).toBe(true);
  });

  it('stores nothing of a client with an oversized profile', () => {
    const session = open({ name: 'x'.repeat(20_000) });
    subscribe(session);
    expect(stored()).toEqual([]);
    session.close();
  });
});
