import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { TransportError } from '../link/transport.js';
import {
  initialStatus,
  isReinitializing,
  transition,
  type ConnectionEvent,
  type ConnectionState,
  type ConnectionStatus,
} from './connection-state.js';

const CRASH = new Error('exited with code 1');
const EXPIRED = new TransportError('session-expired', 'unknown session');

type Step = ConnectionEvent['type'] | ConnectionEvent;

const FAILED: ConnectionEvent = { type: 'failed', cause: CRASH };
const LOST: ConnectionEvent = { type: 'lost', cause: CRASH };
const SESSION_EXPIRED: ConnectionEvent = { type: 'lost', cause: EXPIRED };

const asEvent = (step: Step): ConnectionEvent =>
  typeof step === 'string' ? { type: step, cause: CRASH } : step;

/** The status after these events. A number in between is a time in milliseconds that passes. */
function statusAfter(...steps: readonly (Step | number)[]): ConnectionStatus {
  return applySteps({ status: initialStatus(0), now: 0 }, ...steps).status;
}

function applySteps(
  from: { readonly status: ConnectionStatus; readonly now: number },
  ...steps: readonly (Step | number)[]
): { status: ConnectionStatus; now: number } {
  let { status, now } = from;
  for (const step of steps) {
    if (typeof step === 'number') now += step;
    else status = transition(status, asEvent(step), { now, random: 1 });
  }
  return { status, now };
}

const READY = ['connect', 'opened'] as const;
const SILENT = ['timed-out', 'probe-unanswered', 'timed-out', 'timed-out'] as const;
const UNRESPONSIVE = [...READY, ...SILENT] as const;
const RETRYING = ['connect', 'failed'] as const;
const CRASH_LOOP = Array.from({ length: 5 }, () => RETRYING).flat();

const STEPS_TO: Readonly<Record<ConnectionState, readonly Step[]>> = {
  stopped: [],
  connecting: ['connect'],
  ready: READY,
  unresponsive: UNRESPONSIVE,
  retrying: RETRYING,
  'crash-loop': CRASH_LOOP,
};

describe('transition', () => {
  it.each<[ConnectionState, ConnectionEvent['type'], ConnectionState]>([
    ['stopped', 'connect', 'connecting'],
    ['connecting', 'opened', 'ready'],
    ['connecting', 'failed', 'retrying'],
    ['connecting', 'reconnect', 'connecting'],
    ['connecting', 'stop', 'stopped'],
    ['ready', 'timed-out', 'ready'],
    ['ready', 'probe-unanswered', 'ready'],
    ['ready', 'answered', 'ready'],
    ['ready', 'lost', 'retrying'],
    ['ready', 'reconnect', 'connecting'],
    ['ready', 'stop', 'stopped'],
    ['unresponsive', 'timed-out', 'unresponsive'],
    ['unresponsive', 'probe-unanswered', 'unresponsive'],
    ['unresponsive', 'answered', 'ready'],
    ['unresponsive', 'lost', 'retrying'],
    ['unresponsive', 'reconnect', 'connecting'],
    ['unresponsive', 'stop', 'stopped'],
    ['retrying', 'connect', 'connecting'],
    ['retrying', 'reconnect', 'connecting'],
    ['retrying', 'stop', 'stopped'],
    ['crash-loop', 'connect', 'connecting'],
    ['crash-loop', 'reconnect', 'connecting'],
    ['crash-loop', 'stop', 'stopped'],
  ])('leads from %s by %s to %s', (from, event, to) => {
    expect(statusAfter(...STEPS_TO[from]).state).toBe(from);
    expect(statusAfter(...STEPS_TO[from], event).state).toBe(to);
  });

  it.each<[ConnectionState, readonly ConnectionEvent['type'][]]>([
    [
      'stopped',
      ['opened', 'failed', 'lost', 'timed-out', 'probe-unanswered', 'answered', 'reconnect', 'stop'],
    ],
    ['connecting', ['connect', 'lost', 'timed-out', 'probe-unanswered', 'answered']],
    ['ready', ['connect', 'opened', 'failed']],
    ['unresponsive', ['connect', 'opened', 'failed']],
    ['retrying', ['opened', 'failed', 'lost', 'timed-out', 'probe-unanswered', 'answered']],
    ['crash-loop', ['opened', 'failed', 'lost', 'timed-out', 'probe-unanswered', 'answered']],
  ])('ignores in %s the events %j', (from, events) => {
    const status = statusAfter(...STEPS_TO[from]);
    for (const event of events)
      expect(transition(status, asEvent(event), { now: 99, random: 1 })).toBe(status);
  });

  it('records when a state was entered and why', () => {
    expect(statusAfter(5, 'connect')).toMatchObject({ since: 5, cause: undefined });
    expect(statusAfter('connect', 7, FAILED)).toMatchObject({ since: 7, cause: CRASH });
    expect(statusAfter('connect', FAILED, 9, 'connect')).toMatchObject({ since: 9, cause: CRASH });
    expect(statusAfter('connect', FAILED, 'connect', 'opened').cause).toBeUndefined();
  });

  it('doubles the retry delay with every failed attempt, up to the limit', () => {
    let from = { status: initialStatus(0), now: 0 };
    const delays: number[] = [];
    for (let attempt = 1; attempt <= 9; attempt++) {
      // The failures are so far apart that they are not a crash loop.
      from = applySteps(from, 'connect', 20_000, FAILED);
      expect(from.status.attempts).toBe(attempt);
      delays.push(from.status.nextAttemptAt! - from.now);
    }
    expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  it.each([
    [10_000, 2],
    [10_001, 1],
  ])('after a link that was open for %i ms, counts %i failed attempts', (openMs, attempts) => {
    expect(statusAfter('connect', FAILED, ...READY, openMs, LOST).attempts).toBe(attempts);
  });

  it('retries without delay after an expired session, which is no failed attempt', () => {
    const status = statusAfter(...READY, 3, SESSION_EXPIRED);
    expect(status).toMatchObject({ state: 'retrying', attempts: 0, since: 3, nextAttemptAt: 3 });
    expect(isReinitializing(status)).toBe(true);
    expect(isReinitializing(statusAfter(...READY, SESSION_EXPIRED, 'connect'))).toBe(true);
    expect(isReinitializing(statusAfter(...READY, SESSION_EXPIRED, 'connect', 'opened'))).toBe(false);
    expect(isReinitializing(statusAfter(...READY, SESSION_EXPIRED, 'connect', FAILED))).toBe(false);
    expect(isReinitializing(statusAfter(...READY, LOST))).toBe(false);
  });

  it('clears failures and ends a crash loop on a reconnect', () => {
    expect(statusAfter(...CRASH_LOOP, 'reconnect')).toMatchObject({
      attempts: 0,
      failures: [],
      isCrashLoop: false,
      nextAttemptAt: undefined,
    });
  });
});

describe('transition, any order of events', () => {
  const steps = fc.array(
    fc.oneof(
      fc.constantFrom<Step>('connect', 'opened', ...SILENT, 'answered', 'reconnect', 'stop'),
      fc.constantFrom<Step>(FAILED, LOST, SESSION_EXPIRED),
      fc.nat(70_000),
    ),
    { maxLength: 60 },
  );

  it('keeps cause, times and counts consistent with the state', () => {
    fc.assert(
      fc.property(steps, (events) => {
        let from = { status: initialStatus(0), now: 0 };
        for (const event of events) {
          from = applySteps(from, event);
          const { state, cause, since, nextAttemptAt, openedAt, failures } = from.status;
          const { timeouts, unansweredProbes } = from.status;
          const isOpen = state === 'ready' || state === 'unresponsive';
          const isRetrying = state === 'retrying' || state === 'crash-loop';
          expect([openedAt !== undefined, nextAttemptAt !== undefined]).toEqual([isOpen, isRetrying]);
          expect(timeouts >= 3 && unansweredProbes >= 1).toBe(state === 'unresponsive');
          expect(since).toBeLessThanOrEqual(from.now);
          expect((nextAttemptAt ?? since) - since).toBeLessThanOrEqual(30_000);
          expect(failures.length).toBeLessThanOrEqual(5);
          const needsCause = isRetrying || state === 'unresponsive';
          const mayHaveCause = needsCause || state === 'connecting';
          expect(cause === undefined ? !needsCause : mayHaveCause).toBe(true);
        }
      }),
    );
  });
});

describe('transition of a server that does not answer', () => {
  it.each([
    [['timed-out', 'probe-unanswered', 'timed-out'], 'timed-out'],
    [['timed-out', 'timed-out', 'timed-out'], 'probe-unanswered'],
    [['timed-out', 'timed-out', 'timed-out', 'timed-out'], 'probe-unanswered'],
  ] as const)('leads to unresponsive after three timeouts and an unanswered probe: %j, %s', (first, last) => {
    expect(statusAfter(...READY, ...first).state).toBe('ready');
    expect(statusAfter(...READY, ...first, 8, last)).toMatchObject({
      state: 'unresponsive',
      since: 8,
      cause: { message: 'it does not answer' },
    });
  });

  it('counts timeouts and probes anew after an answer and over the next link', () => {
    for (const reset of [['answered'], [LOST, ...READY]] as const) {
      expect(statusAfter(...UNRESPONSIVE, ...reset)).toMatchObject({
        state: 'ready',
        timeouts: 0,
        unansweredProbes: 0,
        cause: undefined,
      });
      expect(statusAfter(...READY, ...SILENT.slice(0, 3), ...reset, 'timed-out').state).toBe('ready');
      expect(statusAfter(...UNRESPONSIVE, ...reset, ...SILENT.slice(0, 3)).state).toBe('ready');
    }
  });
});

/** Whether failures at these times, in seconds, are a crash loop at the time of the last one. */
function isLoop(...seconds: readonly number[]): boolean {
  let now = 0;
  let status = initialStatus(0);
  for (const second of seconds) {
    now = second * 1000;
    status = transition(status, { type: 'connect' }, { now, random: 1 });
    status = transition(status, FAILED, { now, random: 1 });
  }
  return status.state === 'crash-loop';
}

describe('transition, crash loop', () => {
  it.each([
    [[], false],
    [[0, 1, 2, 3], false],
    [[0, 1, 2, 3, 4], true],
    [[0, 0, 0, 0, 0], true],
    [[0, 1, 2, 3, 59.9], true],
    [[0, 1, 2, 3, 60], false],
    [[0, 1, 2, 3, 60, 60.5], true],
    [[0, 30, 60, 90, 120, 150], false],
    [[0, 1, 2, 3, 4, 34, 64, 94, 124, 3600], true],
  ])('treats failures at %j seconds as a crash loop: %s', (seconds, expected) => {
    expect(isLoop(...seconds)).toBe(expected);
  });

  it('stays in a crash loop after five failures within a minute, at any interval between later failures', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40), { maxLength: 20 }), (gaps) => {
        let now = 0;
        const times = gaps.map((gap) => (now += gap));
        const began = times.some((time, index) => index >= 4 && time - times[index - 4]! < 60);
        expect(isLoop(...times)).toBe(began);
      }),
    );
  });

  it('retries every 30 seconds', () => {
    const { status, now } = applySteps({ status: initialStatus(0), now: 0 }, ...CRASH_LOOP);
    expect(status.nextAttemptAt! - now).toBe(30_000);
    expect(statusAfter(...CRASH_LOOP, ...READY, 10_000, LOST).state).toBe('crash-loop');
  });

  it('leaves a crash loop after a stable link, and ignores earlier failures from then on', () => {
    const stable = [...READY, 10_001, LOST] as const;
    expect(statusAfter(...CRASH_LOOP, ...stable).state).toBe('retrying');
    expect(statusAfter(...CRASH_LOOP, ...stable, ...CRASH_LOOP.slice(0, 6)).state).toBe('retrying');
    expect(statusAfter(...CRASH_LOOP, ...stable, ...CRASH_LOOP.slice(0, 8)).state).toBe('crash-loop');
  });

  it('enters a crash loop after five losses within a minute, even of stable links', () => {
    const losses = Array.from({ length: 5 }, () => [...READY, 10_001, LOST] as const).flat();
    expect(statusAfter(...losses).state).toBe('crash-loop');
  });

  it('enters a crash loop after five expired sessions, and then does not reinitialize at once', () => {
    const expiries = Array.from({ length: 5 }, () => [...READY, SESSION_EXPIRED] as const).flat();
    const status = statusAfter(...expiries);
    expect(status.state).toBe('crash-loop');
    expect(isReinitializing(status)).toBe(false);
  });
});
