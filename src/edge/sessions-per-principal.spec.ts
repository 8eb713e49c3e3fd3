import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Limits } from '../config/limits.js';
import { ANONYMOUS, type Principal } from '../mcp/principal.js';
import { Metrics } from '../metrics/metrics.js';
import { MemoryQuotas } from '../state/memory-quotas.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { publicSessionId, sessionIdOf, type Session } from './session.js';
import { Sessions } from './sessions.service.js';

const principal = (id: string): Principal => ({ id, grants: '*' });

class Harness {
  readonly metrics = new Metrics();
  readonly quotas = new MemoryQuotas();
  readonly sessions: Sessions;

  constructor(limits: Partial<Limits>) {
    const settings = Object.assign(new Limits(), limits);
    this.sessions = new Sessions(settings, this.metrics, undefined, this.quotas);
  }

  open(id: string, quotaKey?: string): Session {
    const session = this.sessions.create(principal(id), quotaKey);
    this.sessions.requireCapacity(session.quotaKey);
    this.sessions.add(session);
    return session;
  }

  openMany(count: number, id: string): Session[] {
    return Array.from({ length: count }, () => this.open(id));
  }

  /** The open sessions of each principal. */
  get counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { quotaKey } of this.sessions.all()) counts[quotaKey] = (counts[quotaKey] ?? 0) + 1;
    return counts;
  }

  async metric(name: string): Promise<number> {
    const line = (await this.metrics.text()).split('\n').find((text) => text.startsWith(`${name} `));
    return Number(line?.split(' ').at(-1));
  }
}

const limitExceeded = (limit: number): unknown =>
  expect.objectContaining({ kind: 'limit-exceeded', data: { code: 'LimitExceeded', limit } });

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('Sessions per principal', () => {
  it('refuse more sessions of one principal than the limit, until one is closed', async () => {
    const harness = new Harness({ sessionsPerPrincipal: 2 });
    const [first] = harness.openMany(2, 'a');
    expect(() => harness.open('a')).toThrow(limitExceeded(2));
    harness.openMany(2, 'b');
    first!.close();
    harness.open('a');
    expect(harness.counts).toEqual({ a: 2, b: 2 });
    expect(await harness.metric('gatehouse_limit_refusals_total{limit="sessionsPerPrincipal"}')).toBe(1);
  });

  it('count anonymous clients by their quota key', () => {
    const harness = new Harness({ sessionsPerPrincipal: 1 });
    harness.open('anonymous', 'address 10.0.0.1');
    harness.open('anonymous', 'address 10.0.0.2');
    expect(() => harness.open('anonymous', 'address 10.0.0.1')).toThrow(limitExceeded(1));
  });

  it('release their places when they are closed', () => {
    const harness = new Harness({ sessionsPerPrincipal: 2 });
    for (const session of harness.openMany(2, 'a')) session.close();
    expect([harness.quotas.count('sessions a'), harness.quotas.count('sessions')]).toEqual([0, 0]);
  });

  it('claim no place in a full gateway', () => {
    const harness = new Harness({ sessions: 1 });
    harness.open('a');
    expect(() => harness.sessions.add(harness.sessions.create(principal('b')))).toThrow(limitExceeded(1));
    expect(harness.quotas.count('sessions b')).toBe(0);
  });
});

describe('Sessions at the total limit', () => {
  it('let a principal with few in, and end the longest idle of the principal with the most', async () => {
    const harness = new Harness({ sessions: 4 });
    const [first, second] = harness.openMany(4, 'a');
    jest.advanceTimersByTime(1000);
    first!.touch();
    const log = recordLog();
    harness.open('b');
    expect(harness.counts).toEqual({ a: 3, b: 1 });
    expect([first!, second!].map(({ id }) => harness.sessions.find(id) !== undefined)).toEqual([true, false]);
    expect(await harness.metric('gatehouse_sessions_evicted_total')).toBe(1);
    expect(JSON.parse(log.at(-1)!)).toMatchObject({
      level: 'warn',
      session: publicSessionId(second!),
      principal: 'a',
      idleMs: 1000,
    });
  });

  it('share the total evenly, in any order of arrival', async () => {
    const harness = new Harness({ sessions: 6 });
    harness.openMany(6, 'a');
    for (let n = 0; n < 3; n++) harness.open('b');
    expect(() => harness.open('b')).toThrow(limitExceeded(6));
    expect(() => harness.open('a')).toThrow(limitExceeded(6));
    for (let n = 0; n < 2; n++) harness.open('c');
    expect(harness.counts).toEqual({ a: 2, b: 2, c: 2 });
    expect(await harness.metric('gatehouse_limit_refusals_total{limit="sessions"}')).toBe(2);
  });

  it('end a session that is in use when the principal with the most has no idle one', () => {
    const harness = new Harness({ sessions: 2 });
    const sessions = harness.openMany(2, 'a');
    for (const session of sessions) jest.spyOn(session, 'idleMs', 'get').mockReturnValue(0);
    harness.open('b');
    expect(harness.counts).toEqual({ a: 1, b: 1 });
  });

  it('compare a bounded number of sessions', () => {
    const harness = new Harness({ sessions: 1000 });
    const sessions = harness.openMany(1000, 'a');
    const read = sessions.map((session) => jest.spyOn(session, 'idleMs', 'get'));
    harness.open('b');
    expect(read.filter((spy) => spy.mock.calls.length > 0)).toHaveLength(64);
  });
});

const restore = (harness: Harness, key: string): Session => {
  const previous = { id: sessionIdOf(key), openedAt: 1, seenAt: Date.now() };
  const session = harness.sessions.restore(ANONYMOUS, previous)!;
  harness.sessions.add(session);
  return session;
};

describe('Restored sessions', () => {
  it('are all kept, also above the limit per principal', () => {
    const harness = new Harness({ sessionsPerPrincipal: 2 });
    for (const key of ['k1', 'k2', 'k3']) restore(harness, key);
    expect(harness.counts).toEqual({ anonymous: 3 });
  });

  it('count for the address of their client from its first request on', () => {
    const harness = new Harness({ sessionsPerPrincipal: 2 });
    const session = restore(harness, 'k1');
    harness.sessions.get('k1', ANONYMOUS, 'address 10.0.0.1');
    harness.sessions.get('k1', ANONYMOUS, 'address 10.0.0.2');
    expect(harness.counts).toEqual({ 'address 10.0.0.1': 1 });
    session.close();
    const keys = ['sessions anonymous', 'sessions address 10.0.0.1', 'sessions'];
    expect(keys.map((key) => harness.quotas.count(key))).toEqual([0, 0, 0]);
  });
});
