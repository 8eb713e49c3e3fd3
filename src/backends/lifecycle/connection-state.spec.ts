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
const UNAUTHORIZED = new TransportError('refused', 'HTTP 401', { httpStatus: 401 });
const EXPIRED = new TransportError('session-expired', 'unknown session');

type Step = ConnectionEvent['type'] | ConnectionEvent;

const FAILED: ConnectionEvent = { type: 'failed', error: CRASH };
const LOST: ConnectionEvent = { type: 'lost', error: CRASH };
const SESSION_EXPIRED: ConnectionEvent = { type: 'lost', error: EXPIRED };

const asEvent = (step: Step): ConnectionEvent =>
  typeof step === 'string' ? { type: step, error: CRASH } : step;

/** The status after these events. A number in between is a time in milliseconds that passes. */
function statusAfter(...steps: readonly (Step | number)[]): ConnectionStatus {
  return applySteps(process(), ...steps).status;
}

const process = () => ({ status: initialStatus(0, 'process'), now: 0 });
const httpServer = () => ({ status: initialStatus(0, 'http'), now: 0 });

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
    ['retrying', 'called', 'retrying'],
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
      [
        'opened',
        'failed',
        'lost',
        'timed-out',
        'probe-unanswered',
        'answered',
        'called',
        'reconnect',
        'stop',
      ],
    ],
    ['connecting', ['connect', 'lost', 'timed-out', 'probe-unanswered', 'answered', 'called']],
    ['ready', ['connect', 'opened', 'failed', 'called']],
    ['unresponsive', ['connect', 'opened', 'failed', 'called']],
    ['retrying', ['opened', 'failed', 'lost', 'timed-out', 'probe-unanswered', 'answered', 'called']],
    ['crash-loop', ['opened', 'failed', 'lost', 'timed-out', 'probe-unanswered', 'answered', 'called']],
  ])('ignores in %s the events %j', (from, events) => {
    const status = statusAfter(...STEPS_TO[from]);
    for (const event of events)
      expect(transition(status, asEvent(event), { now: 99, random: 1 })).toBe(status);
  });

  it('records when a state was entered and why', () => {
    expect(statusAfter(5, 'connect')).toMatchObject({ since: 5, error: undefined });
    expect(statusAfter('connect', 7, FAILED)).toMatchObject({ since: 7, error: CRASH });
    expect(statusAfter('connect', FAILED, 9, 'connect')).toMatchObject({ since: 9, error: CRASH });
    expect(statusAfter('connect', FAILED, 'connect', 'opened').error).toBeUndefined();
  });

  it('doubles the retry delay with every failed attempt, up to the limit', () => {
    let from = process();
    const delays: number[] = [];
    for (let attempt = 1; attempt <= 12; attempt++) {
      // The failures are so far apart that they are not a crash loop.
      from = applySteps(from, 'connect', 20_000, FAILED);
      expect(from.status.attempts).toBe(attempt);
      delays.push(from.status.nextAttemptAt! - from.now);
    }
    expect(delays.slice(0, 6)).toEqual([500, 1000, 2000, 4000, 8000, 16_000]);
    expect(delays.slice(6)).toEqual([32_000, 64_000, 128_000, 256_000, 300_000, 300_000]);
  });

  it.each([
    [10_000, 2],
    [10_001, 1],
  ])('after a link that was open for %i ms, counts %i retries', (openMs, retries) => {
    expect(statusAfter('connect', FAILED, ...READY, openMs, LOST).retries).toBe(retries);
  });

  it('counts attempts since the last ready state', () => {
    expect(statusAfter('connect').attempts).toBe(1);
    expect(statusAfter('connect', FAILED, 'connect', FAILED, 'connect').attempts).toBe(3);
    expect(statusAfter('connect', FAILED, ...READY).attempts).toBe(0);
    expect(statusAfter('connect', FAILED, ...READY, LOST).attempts).toBe(0);
    expect(statusAfter('connect', FAILED, ...READY, LOST, 'connect').attempts).toBe(1);
    expect(statusAfter(...CRASH_LOOP, 'reconnect').attempts).toBe(1);
  });

  it('retries without delay after an expired session, which is no failed attempt', () => {
    const status = statusAfter(...READY, 3, SESSION_EXPIRED);
    expect(status).toMatchObject({ state: 'retrying', retries: 0, since: 3, nextAttemptAt: 3 });
    expect(isReinitializing(status)).toBe(true);
    expect(isReinitializing(statusAfter(...READY, SESSION_EXPIRED, 'connect'))).toBe(true);
    expect(isReinitializing(statusAfter(...READY, SESSION_EXPIRED, 'connect', 'opened'))).toBe(false);
    expect(isReinitializing(statusAfter(...READY, SESSION_EXPIRED, 'connect', FAILED))).toBe(false);
    expect(isReinitializing(statusAfter(...READY, LOST))).toBe(false);
  });

  it('clears failures and ends a crash loop on a reconnect', () => {
    expect(statusAfter(...CRASH_LOOP, 'reconnect')).toMatchObject({
      retries: 0,
      failures: [],
      isFailingOften: false,
      nextAttemptAt: undefined,
    });
  });
});

describe('transition, any order of events', () => {
  const steps = fc.array(
    fc.oneof(
      fc.constantFrom<Step>('connect', 'opened', ...SILENT, 'answered', 'called', 'reconnect', 'stop'),
      fc.constantFrom<Step>(FAILED, LOST, SESSION_EXPIRED),
      fc.nat(70_000),
    ),
    { maxLength: 60 },
  );

  it('keeps error, times and counts consistent with the state', () => {
    fc.assert(
      fc.property(steps, fc.constantFrom(process, httpServer), (events, server) => {
        let from = server();
        for (const event of events) {
          from = applySteps(from, event);
          const { state, error, since, nextAttemptAt, openedAt, failures } = from.status;
          const { timeouts, unansweredProbes, attempts } = from.status;
          const isOpen = state === 'ready' || state === 'unresponsive';
          const isRetrying = state === 'retrying' || state === 'crash-loop';
          expect([openedAt !== undefined, nextAttemptAt !== undefined]).toEqual([isOpen, isRetrying]);
          expect(timeouts >= 3 && unansweredProbes >= 1).toBe(state === 'unresponsive');
          expect(since).toBeLessThanOrEqual(from.now);
          expect((nextAttemptAt ?? since) - since).toBeLessThanOrEqual(300_000);
          expect(attempts === 0 || !(isOpen || state === 'stopped')).toBe(true);
          expect(attempts > 0 || state !== 'connecting').toBe(true);
          expect(failures.length).toBeLessThanOrEqual(5);
          const needsError = isRetrying || state === 'unresponsive';
          const mayHaveError = needsError || state === 'connecting';
          expect(error === undefined ? !needsError : mayHaveError).toBe(true);
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
      error: { message: 'it does not answer' },
    });
  });

  it('counts timeouts and probes anew after an answer and over the next link', () => {
    for (const reset of [['answered'], [LOST, ...READY]] as const) {
      expect(statusAfter(...UNRESPONSIVE, ...reset)).toMatchObject({
        state: 'ready',
        timeouts: 0,
        unansweredProbes: 0,
        error: undefined,
      });
      expect(statusAfter(...READY, ...SILENT.slice(0, 3), ...reset, 'timed-out').state).toBe('ready');
      expect(statusAfter(...UNRESPONSIVE, ...reset, ...SILENT.slice(0, 3)).state).toBe('ready');
    }
  });
});

/** Whether failures at these times, in seconds, are a crash loop at the time of the last one. */
function isLoop(...seconds: readonly number[]): boolean {
  let now = 0;
  let { status } = process();
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

  it('retries after 30 seconds, then twice as long each time, up to 5 minutes', () => {
    let from = applySteps(process(), ...CRASH_LOOP);
    const delays: number[] = [];
    for (let n = 0; n < 8; n++) {
      delays.push(from.status.nextAttemptAt! - from.now);
      from = applySteps(from, 'connect', FAILED);
    }
    expect(delays).toEqual([30_000, 30_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000]);
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

/** The delays after each attempt that fails with this error: without calls, and while calls arrive. */
function delaysAfter(failures: number, error: Error): { idle: number[]; called: number[] } {
  let from = httpServer();
  const delays: { idle: number[]; called: number[] } = { idle: [], called: [] };
  for (let n = 0; n < failures; n++) {
    from = applySteps(from, 'connect', { type: 'failed', error });
    const called = applySteps(from, 'called').status;
    delays.idle.push(from.status.nextAttemptAt! - from.now);
    delays.called.push(called.nextAttemptAt! - from.now);
  }
  return delays;
}

describe('transition of an HTTP server', () => {
  it('retries with a cap of 5 s while calls arrive, and of a minute when idle', () => {
    const { idle, called } = delaysAfter(9, UNAUTHORIZED);
    expect(idle).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    expect(called).toEqual([500, 1000, 2000, 4000, 5000, 5000, 5000, 5000, 5000]);
  });

  it('retries with a cap of 5 s for the first 60 attempts at a server that is unreachable, as in a deploy', () => {
    const { idle, called } = delaysAfter(61, CRASH);
    expect(idle.slice(0, 60)).toEqual([500, 1000, 2000, 4000, ...Array.from({ length: 56 }, () => 5000)]);
    expect([idle[60], called[60]]).toEqual([60_000, 5000]);
  });

  it('counts these attempts again after the loss of a stable link only', () => {
    const down = { ...httpServer().status, retries: 60 };
    const lost = (openMs: number): ConnectionStatus =>
      applySteps({ status: down, now: 0 }, ...READY, openMs, LOST).status;
    expect([10_000, 10_001].map((openMs) => lost(openMs).nextAttemptAt! - lost(openMs).since)).toEqual([
      60_000, 500,
    ]);
  });

  it('retries at once when a call arrives later than that', () => {
    const failures = Array.from(
      { length: 8 },
      () => ['connect', { type: 'failed', error: UNAUTHORIZED }] as const,
    ).flat();
    const { status, now } = applySteps(httpServer(), ...failures, 20_000, 'called');
    expect(status.nextAttemptAt).toBe(now);
    expect(transition(status, { type: 'called' }, { now: now + 1, random: 1 })).toBe(status);
  });

  it('is never a crash loop, but does not reinitialize at once after five expired sessions', () => {
    const failures = Array.from({ length: 9 }, () => ['connect', FAILED] as const).flat();
    expect(applySteps(httpServer(), ...failures).status.state).toBe('retrying');
    const expiries = Array.from({ length: 5 }, () => [...READY, SESSION_EXPIRED] as const).flat();
    const { status } = applySteps(httpServer(), ...expiries);
    expect([status.state, isReinitializing(status)]).toEqual(['retrying', false]);
  });
});
