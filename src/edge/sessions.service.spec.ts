import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ANONYMOUS } from '../mcp/principal.js';
import { Limits } from '../config/limits.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

const sessionsWithin = (limits: Partial<Limits> = {}): Sessions => {
  const sessions = new Sessions(Object.assign(new Limits(), limits));
  sessions.onModuleInit();
  return sessions;
};

const open = (sessions: Sessions): Session => {
  const session = sessions.create(ANONYMOUS);
  sessions.add(session);
  return session;
};

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('the sessions', () => {
  it('are found by their id once they are added, and not before', () => {
    const sessions = sessionsWithin();
    const session = sessions.create(ANONYMOUS);
    expect(() => sessions.get(session.id, ANONYMOUS)).toThrow(
      expect.objectContaining({ kind: 'session-not-found' }),
    );
    sessions.add(session);
    expect(sessions.get(session.id, ANONYMOUS)).toBe(session);
    expect([...sessions.all()]).toEqual([session]);
  });

  it.each(['', 'nobody', '__proto__', 'constructor'])('are not found by %j', (id) => {
    expect(() => sessionsWithin().get(id, ANONYMOUS)).toThrow(
      expect.objectContaining({ kind: 'session-not-found' }),
    );
  });

  it('are not looked for without an id', () => {
    expect(() => sessionsWithin().get(undefined, ANONYMOUS)).toThrow(
      expect.objectContaining({ kind: 'session-required' }),
    );
  });

  it('are not found by anybody but who opened them', () => {
    const sessions = sessionsWithin();
    const session = open(sessions);
    const other = { id: 'other', grants: '*' } as const;
    expect(() => sessions.get(session.id, other)).toThrow(
      expect.objectContaining({ kind: 'session-not-found' }),
    );
  });

  it('are no more than the limit, and there is room again when one is closed', () => {
    const sessions = sessionsWithin({ sessions: 2 });
    const [first] = [open(sessions), open(sessions)];
    const refusal = expect.objectContaining({
      kind: 'limit-exceeded',
      data: { code: 'LimitExceeded', limit: 2 },
    });
    expect(() => sessions.requireRoom()).toThrow(refusal);
    expect(() => open(sessions)).toThrow(refusal);
    first.close();
    expect(() => open(sessions)).not.toThrow();
    expect(sessions.size).toBe(2);
  });

  it('expire when nobody uses them, each in its time', () => {
    const sessions = sessionsWithin({ sessionIdleMs: 60_000 });
    const [used, unused] = [open(sessions), open(sessions)];
    for (let minute = 0; minute < 3; minute++) {
      jest.advanceTimersByTime(40_000);
      sessions.get(used.id, ANONYMOUS);
    }
    expect([...sessions.all()]).toEqual([used]);
    expect(() => sessions.get(unused.id, ANONYMOUS)).toThrow(
      expect.objectContaining({ kind: 'session-not-found' }),
    );
    jest.advanceTimersByTime(90_000);
    expect(sessions.size).toBe(0);
  });

  it('are tended now and then', () => {
    const sessions = sessionsWithin();
    const tended = jest.spyOn(open(sessions), 'tend');
    jest.advanceTimersByTime(60_000);
    expect(tended).toHaveBeenCalledTimes(12);
    expect(tended).toHaveBeenLastCalledWith(15_000, 30_000);
  });

  it('are all closed at the end, and no timer stays', () => {
    const sessions = sessionsWithin();
    let closed = 0;
    for (let n = 0; n < 3; n++) open(sessions).onClose(() => closed++);
    sessions.close();
    expect(closed).toBe(3);
    expect(sessions.size).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });
});
