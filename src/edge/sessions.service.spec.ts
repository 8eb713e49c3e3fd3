import { setImmediate as nextIteration } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ANONYMOUS } from '../mcp/principal.js';
import { MemoryQuotas } from '../state/memory-quotas.js';
import { Limits } from '../config/limits.js';
import { sessionIdOf, type PreviousSession, type Session } from './session.js';
import { Sessions } from './sessions.service.js';

const sessionsWithin = (limits: Partial<Limits> = {}, quotas = new MemoryQuotas()): Sessions => {
  const sessions = new Sessions(Object.assign(new Limits(), limits), undefined, undefined, quotas);
  sessions.onModuleInit();
  return sessions;
};

const open = (sessions: Sessions): Session => {
  const session = sessions.create(ANONYMOUS);
  sessions.add(session);
  return session;
};

const previousSession = (key: string): PreviousSession => ({
  id: sessionIdOf(key),
  openedAt: 1,
  seenAt: Date.now() - 1000,
});

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('Sessions', () => {
  it('finds a session by its key only after it was added', () => {
    const sessions = sessionsWithin();
    const session = sessions.create(ANONYMOUS);
    expect(() => sessions.get(session.key, ANONYMOUS)).toThrow(
      expect.objectContaining({ kind: 'session-not-found' }),
    );
    sessions.add(session);
    expect(sessions.get(session.key, ANONYMOUS)).toBe(session);
    expect([...sessions.all()]).toEqual([session]);
  });

  it.each(['', 'unknown', '__proto__', 'constructor'])('finds no session for %j', (id) => {
    expect(() => sessionsWithin().get(id, ANONYMOUS)).toThrow(
      expect.objectContaining({ kind: 'session-not-found' }),
    );
  });

  it('refuses a request without a session id', () => {
    expect(() => sessionsWithin().get(undefined, ANONYMOUS)).toThrow(
      expect.objectContaining({ kind: 'session-required' }),
    );
  });

  it('finds a session only for its principal', () => {
    const sessions = sessionsWithin();
    const session = open(sessions);
    const other = { id: 'other', grants: '*' } as const;
    expect(() => sessions.get(session.key, other)).toThrow(
      expect.objectContaining({ kind: 'session-not-found' }),
    );
  });

  it('refuses sessions above the limit until one is closed', () => {
    const sessions = sessionsWithin({ sessions: 2 });
    const [first] = [open(sessions), open(sessions)];
    const refusal = expect.objectContaining({
      kind: 'limit-exceeded',
      data: { code: 'LimitExceeded', limit: 2 },
    });
    expect(() => sessions.requireCapacity(ANONYMOUS.id)).toThrow(refusal);
    expect(() => open(sessions)).toThrow(refusal);
    first.close();
    expect(() => open(sessions)).not.toThrow('Session not found');
    expect(sessions.size).toBe(2);
  });

  it.each<[string, (sessions: Sessions, session: Session) => void]>([
    ['is closed, also twice', (_, session) => [1, 2].forEach(() => session.close())],
    ['expires', () => jest.advanceTimersByTime(120_000)],
  ])('releases the quota of a session that %s', (_how, end) => {
    const quotas = new MemoryQuotas();
    const sessions = sessionsWithin({ sessions: 2, sessionIdleMs: 60_000 }, quotas);
    const session = open(sessions);
    expect(quotas.count('sessions')).toBe(1);
    end(sessions, session);
    expect([quotas.count('sessions'), sessions.size]).toEqual([0, 0]);
  });

  it('claims no quota for a session that is refused, not added or closed before', () => {
    const quotas = new MemoryQuotas();
    const sessions = sessionsWithin({ sessions: 1 }, quotas);
    const closed = sessions.create(ANONYMOUS);
    closed.close();
    sessions.add(closed);
    expect(quotas.count('sessions')).toBe(0);
    const first = open(sessions);
    expect(() => open(sessions)).toThrow('1 sessions are open');
    sessions.create(ANONYMOUS);
    expect(quotas.count('sessions')).toBe(1);
    first.close();
    expect(quotas.count('sessions')).toBe(0);
  });

  it('closes each session after its idle time', () => {
    const sessions = sessionsWithin({ sessionIdleMs: 60_000 });
    const [used, unused] = [open(sessions), open(sessions)];
    for (let minute = 0; minute < 3; minute++) {
      jest.advanceTimersByTime(40_000);
      sessions.get(used.key, ANONYMOUS);
    }
    expect([...sessions.all()]).toEqual([used]);
    expect(() => sessions.get(unused.key, ANONYMOUS)).toThrow(
      expect.objectContaining({ kind: 'session-not-found' }),
    );
    jest.advanceTimersByTime(90_000);
    expect(sessions.size).toBe(0);
  });

  it('sends keep-alive comments periodically', () => {
    const sessions = sessionsWithin();
    const keepAliveCalls = jest.spyOn(open(sessions), 'keepAlive');
    jest.advanceTimersByTime(60_000);
    expect(keepAliveCalls).toHaveBeenCalledTimes(12);
    expect(keepAliveCalls).toHaveBeenLastCalledWith(15_000);
  });

  it('sends keep-alive comments in slices', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const sessions = sessionsWithin();
    let keepAliveCalls = 0;
    for (let n = 0; n < 600; n++) open(sessions).keepAlive = () => keepAliveCalls++;
    jest.advanceTimersByTime(5000);
    const seen = [keepAliveCalls];
    for (let n = 0; n < 4; n++) {
      await nextIteration();
      seen.push(keepAliveCalls);
    }
    expect(seen).toEqual([250, 500, 600, 600, 600]);
  });

  it('runs one round of keep-alive comments at a time, and none after suspendAll', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const sessions = sessionsWithin();
    let keepAliveCalls = 0;
    for (let n = 0; n < 600; n++) open(sessions).keepAlive = () => keepAliveCalls++;
    jest.advanceTimersByTime(10_000);
    expect(keepAliveCalls).toBe(250);
    sessions.suspendAll();
    await nextIteration();
    expect(keepAliveCalls).toBe(250);
  });

  it('suspends all sessions and timers, and still finds the sessions', () => {
    const sessions = sessionsWithin({ sessionIdleMs: 60_000 });
    const closed = jest.fn();
    const opened = [1, 2, 3].map(() => open(sessions));
    for (const session of opened) session.onClose(closed);
    sessions.suspendAll();
    expect(jest.getTimerCount()).toBe(0);
    jest.advanceTimersByTime(120_000);
    expect(opened.map(({ key }) => sessions.get(key, ANONYMOUS))).toEqual(opened);
    expect(closed).not.toHaveBeenCalled();
  });

  describe('of the previous process', () => {
    it('are found by the key of their client only', () => {
      const sessions = sessionsWithin();
      const session = sessions.restore(ANONYMOUS, previousSession('key'))!;
      expect(() => sessions.get('key', ANONYMOUS)).toThrow('Session not found');
      sessions.add(session);
      expect(() => sessions.get(session.id, ANONYMOUS)).toThrow('Session not found');
      expect(() => sessions.get('key', { id: 'other', grants: '*' })).toThrow('Session not found');
      for (let n = 0; n < 2; n++) expect(sessions.get('key', ANONYMOUS)).toBe(session);
      expect(sessions.find(session.id)).toBe(session);
      session.close();
      expect(() => sessions.get('key', ANONYMOUS)).toThrow('Session not found');
      expect(sessions.size).toBe(0);
    });

    it('are not restored after their idle time', () => {
      // The last activity may be an eighth of the idle time later than what is stored.
      expect(
        sessionsWithin({ sessionIdleMs: 800 }).restore(ANONYMOUS, previousSession('key')),
      ).toBeUndefined();
      expect(sessionsWithin({ sessionIdleMs: 900 }).restore(ANONYMOUS, previousSession('key'))).toBeDefined();
    });

    it('expire without a request of their client', () => {
      const sessions = sessionsWithin({ sessionIdleMs: 60_000 });
      sessions.add(sessions.restore(ANONYMOUS, previousSession('key'))!);
      jest.advanceTimersByTime(45_000);
      expect(sessions.size).toBe(1);
      jest.advanceTimersByTime(30_000);
      expect(sessions.size).toBe(0);
    });

    it('claim quota when they are added, and release it when they are closed', () => {
      const quotas = new MemoryQuotas();
      const sessions = sessionsWithin({}, quotas);
      const session = sessions.restore(ANONYMOUS, previousSession('key'))!;
      expect(quotas.count('sessions')).toBe(0);
      sessions.add(session);
      expect(quotas.count('sessions')).toBe(1);
      session.close();
      expect(quotas.count('sessions')).toBe(0);
    });

    it('are not restored above the limit', () => {
      const sessions = sessionsWithin({ sessions: 1 });
      open(sessions);
      expect(sessions.restore(ANONYMOUS, previousSession('key'))).toBeUndefined();
    });
  });
});
