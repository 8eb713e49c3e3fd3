import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { getEventListeners } from 'node:events';
import { GatewayError } from '../core/errors.js';
import { CallGate, type CallLimits, type QueueOptions } from './call-gate.js';
import type { CallerKeys } from './request-queue.js';

/** A gate, and a server whose calls the test answers explicitly. */
class Harness {
  made = 0;
  readonly started: string[] = [];
  /** Calls that started although the limits forbid it. */
  readonly overLimit: string[] = [];
  readonly outcomes = new Map<string, unknown>();
  readonly gate: CallGate;
  private readonly open = new Map<string, { resolve(value: string): void; reject(error: Error): void }>();

  constructor(private limits: CallLimits) {
    this.gate = new CallGate('db', limits);
  }

  /** The first letter of the name is the client. A call whose name ends with `alone` is exclusive. */
  call(name: string, options: QueueOptions = {}): Promise<void> {
    const exclusive = name.endsWith('alone');
    const run = (): Promise<string> => this.start(name, exclusive);
    return this.record(name, this.gate.run(callerOf(name), run, { exclusive, ...options }));
  }

  /** A request of the gateway itself. The first letter of the name is its kind. */
  background(name: string): Promise<void> {
    const run = (): Promise<string> => this.start(name, false);
    return this.record(name, this.gate.runBackground(name.charAt(0), run, Infinity));
  }

  private async record(name: string, outcome: Promise<string>): Promise<void> {
    this.made++;
    this.outcomes.set(name, await outcome.catch((error: unknown) => error));
  }

  resize(limits: CallLimits): void {
    this.limits = limits;
    this.gate.setLimits(limits);
  }

  private start(name: string, exclusive: boolean): Promise<string> {
    const slots =
      exclusive || this.running.some((other) => other.endsWith('alone')) ? 1 : this.limits.concurrency;
    if (this.open.size >= slots) this.overLimit.push(name);
    this.started.push(name);
    return new Promise((resolve, reject) => this.open.set(name, { resolve, reject }));
  }

  /** Makes the calls in this order, without waiting for any. */
  calls(...names: string[]): void {
    for (const name of names) void this.call(name);
  }

  get running(): string[] {
    return [...this.open.keys()];
  }

  async answer(name: string, error?: Error): Promise<void> {
    if (error) this.open.get(name)?.reject(error);
    else this.open.get(name)?.resolve(`answer to ${name}`);
    this.open.delete(name);
    await nextIteration();
  }

  /** Answers the oldest running call until none is left. */
  async answerAll(): Promise<void> {
    for (let name = this.running[0]; name; name = this.running[0]) await this.answer(name);
  }
}

/** The client of a call is its only session and principal. */
const callerOf = (name: string): CallerKeys => ({ quotaKey: name.charAt(0), key: name.charAt(0) });

/** By the next iteration of the event loop, the handlers of settled promises have run. */
const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

const throwBroken = (): Promise<never> => {
  throw new Error('broken');
};

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

describe('CallGate', () => {
  it('starts a call at once when a slot is free, with no listener and no timer', async () => {
    const harness = new Harness({ concurrency: 1, queue: 0 });
    const { signal } = new AbortController();
    void harness.call('a', { signal, deadline: performance.now() + 100 });
    expect(harness.started).toEqual(['a']);
    expect(harness.gate.inFlight).toBe(1);
    expect([listeners(signal), jest.getTimerCount()]).toEqual([0, 0]);
    await harness.answer('a');
    expect(harness.outcomes.get('a')).toBe('answer to a');
    expect(harness.gate.inFlight).toBe(0);
  });

  it('limits the calls in flight and alternates between waiting clients', async () => {
    const harness = new Harness({ concurrency: 2, queue: 10 });
    harness.calls('a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1');
    expect(harness.running).toEqual(['a1', 'a2']);
    expect(harness.gate.waiting).toBe(5);
    await harness.answerAll();
    expect(harness.started).toEqual(['a1', 'a2', 'b1', 'a3', 'c1', 'a4', 'a5']);
    expect(harness.outcomes.size).toBe(7);
  });

  it.each([0, 1, 3])('refuses a call at once when %i of its principal already wait', async (queue) => {
    const harness = new Harness({ concurrency: 1, queue });
    harness.calls('running', ...Array.from({ length: queue }, (_, i) => `waiting ${i}`), 'w refused');
    await nextIteration();
    expect(harness.outcomes.get('w refused')).toBeInstanceOf(GatewayError);
    expect(harness.outcomes.get('w refused')).toMatchObject({
      kind: 'overloaded',
      message: `Overloaded: server db already has ${queue} calls waiting`,
      data: { code: 'Overloaded', server: 'db', limit: queue, retryAfterMs: 1000 },
    });
    expect(harness.outcomes.size).toBe(1);
  });

  it('frees the slot of a call that rejects', async () => {
    const harness = new Harness({ concurrency: 1, queue: 1 });
    harness.calls('a', 'b');
    await harness.answer('a', new Error('broken'));
    expect(harness.outcomes.get('a')).toEqual(new Error('broken'));
    expect(harness.running).toEqual(['b']);
  });

  it('frees one slot for each call that throws synchronously', async () => {
    const harness = new Harness({ concurrency: 1, queue: 20_000 });
    await expect(harness.gate.run(callerOf('a'), throwBroken)).rejects.toThrow('broken');
    expect(harness.gate.inFlight).toBe(0);
    harness.calls('first');
    const outcomes = Promise.allSettled(
      Array.from({ length: 20_000 }, () => harness.gate.run(callerOf('a'), throwBroken)),
    );
    await harness.answer('first');
    expect((await outcomes).every((outcome) => outcome.status === 'rejected')).toBe(true);
    expect([harness.gate.inFlight, harness.gate.waiting]).toEqual([0, 0]);
  });
});

describe('CallGate, cancelling', () => {
  it('does not start a call that is cancelled already', async () => {
    const harness = new Harness({ concurrency: 1, queue: 1 });
    await harness.call('a', { signal: AbortSignal.abort('gone') });
    expect(harness.started).toEqual([]);
    expect(harness.outcomes.get('a')).toMatchObject({ kind: 'cancelled', cause: 'gone' });
  });

  it('removes a cancelled call from the queue at once', async () => {
    const harness = new Harness({ concurrency: 1, queue: 1 });
    const client = new AbortController();
    harness.calls('a');
    void harness.call('b', { signal: client.signal });
    client.abort();
    expect(harness.gate.waiting).toBe(0);
    harness.calls('c');
    expect(harness.gate.waiting).toBe(1);
    await nextIteration();
    expect(harness.outcomes.get('b')).toMatchObject({ kind: 'cancelled', data: { server: 'db' } });
    expect(listeners(client.signal)).toBe(0);
    await harness.answerAll();
    expect(harness.started).toEqual(['a', 'c']);
  });

  it('removes its abort listener when the call starts', async () => {
    const harness = new Harness({ concurrency: 1, queue: 1 });
    const { signal } = new AbortController();
    harness.calls('a');
    void harness.call('b', { signal });
    await harness.answer('a');
    expect([harness.running, listeners(signal)]).toEqual([['b'], 0]);
  });

  it('starts queued calls when the exclusive call before them leaves the queue', () => {
    const harness = new Harness({ concurrency: 3, queue: 5 });
    const client = new AbortController();
    harness.calls('a');
    void harness.call('x alone', { signal: client.signal });
    harness.calls('b');
    void harness.call('y alone', { deadline: performance.now() + 20 });
    harness.calls('c');
    expect(harness.running).toEqual(['a']);
    client.abort();
    expect(harness.running).toEqual(['a', 'b']);
    jest.advanceTimersByTime(20);
    expect(harness.running).toEqual(['a', 'b', 'c']);
  });

  it('starts none of the calls that one signal cancels together', async () => {
    const harness = new Harness({ concurrency: 2, queue: 5 });
    const client = new AbortController();
    harness.calls('a');
    void harness.call('x alone', { signal: client.signal });
    void harness.call('y', { signal: client.signal });
    client.abort();
    await harness.answerAll();
    expect(harness.started).toEqual(['a']);
    expect(harness.outcomes.get('y')).toMatchObject({ kind: 'cancelled' });
    expect(listeners(client.signal)).toBe(0);
  });
});

describe('CallGate, deadlines', () => {
  it('fails a queued call at its deadline, and no other', async () => {
    const harness = new Harness({ concurrency: 1, queue: 5 });
    const { signal } = new AbortController();
    const now = performance.now();
    harness.calls('running', 'patient');
    void harness.call('late', { deadline: now + 300 });
    void harness.call('early', { deadline: now + 100, signal });
    expect(jest.getTimerCount()).toBe(1);

    await jest.advanceTimersByTimeAsync(99);
    expect(harness.outcomes.size).toBe(0);
    await jest.advanceTimersByTimeAsync(1);
    expect([...harness.outcomes.keys()]).toEqual(['early']);
    expect(harness.outcomes.get('early')).toMatchObject({ kind: 'timeout', data: { code: 'TIMEOUT' } });
    expect(listeners(signal)).toBe(0);
    await jest.advanceTimersByTimeAsync(200);
    expect([...harness.outcomes.keys()]).toEqual(['early', 'late']);
    expect([harness.gate.waiting, jest.getTimerCount()]).toEqual([1, 0]);
  });

  it('does not start a call whose deadline has passed before the timer fired', async () => {
    const harness = new Harness({ concurrency: 1, queue: 1 });
    const deadline = performance.now() + 50;
    harness.calls('a');
    void harness.call('b', { deadline });
    const clock = jest.spyOn(performance, 'now').mockReturnValue(deadline);
    await harness.answer('a');
    clock.mockRestore();
    expect(harness.outcomes.get('b')).toMatchObject({ kind: 'timeout' });
    expect(harness.started).toEqual(['a']);
  });

  it('fails calls in time while further calls with close deadlines arrive', () => {
    const harness = new Harness({ concurrency: 1, queue: 20 });
    harness.calls('running');
    for (let i = 0; i < 20; i++) {
      void harness.call(`waiting ${i}`, { deadline: performance.now() });
      jest.advanceTimersByTime(5);
    }
    expect(harness.gate.waiting).toBeLessThanOrEqual(2);
  });

  it('sets no timer that keeps the process alive or exceeds the maximum of setTimeout', () => {
    const setTimer = jest.spyOn(globalThis, 'setTimeout');
    const harness = new Harness({ concurrency: 1, queue: 2 });
    harness.calls('running');
    void harness.call('endless', { deadline: Infinity });
    void harness.call('ages', { deadline: 1e15 });
    expect(setTimer.mock.calls.map(([, ms]) => ms)).toEqual([2 ** 31 - 1]);
    expect(setTimer.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([false]);
  });

  it('fails each call within a step of its deadline, and never before', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 20 }), async (delays) => {
        const harness = new Harness({ concurrency: 1, queue: 20 });
        const from = performance.now();
        harness.calls('running');
        const waits = delays.map(async (delay, i) => {
          await harness.call(`waiting ${i}`, { deadline: from + delay });
          return performance.now() - from - delay;
        });
        await jest.advanceTimersByTimeAsync(500);
        expect((await Promise.all(waits)).filter((late) => late < 0 || late > 11)).toEqual([]);
        expect(jest.getTimerCount()).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});

describe('CallGate, exclusive calls', () => {
  it('starts an exclusive call when no other is in flight, and no other until it has settled', async () => {
    const harness = new Harness({ concurrency: 5, queue: 5 });
    harness.calls('x alone', 'a', 'b', 'y alone');
    expect(harness.running).toEqual(['x alone']);
    await harness.answer('x alone');
    expect(harness.running).toEqual(['a', 'b']);
    await harness.answerAll();
    expect(harness.started).toEqual(['x alone', 'a', 'b', 'y alone']);
    expect(harness.overLimit).toEqual([]);
  });

  it('starts no call before an exclusive call that is first in the queue', async () => {
    const harness = new Harness({ concurrency: 3, queue: 100 });
    harness.calls('a1', 'a2', 'x alone', 'a3', 'b1', 'c1');
    await harness.answer('a1');
    expect(harness.running).toEqual(['a2']);
    await harness.answer('a2');
    expect(harness.running).toEqual(['x alone']);
  });
});

describe('CallGate, rejecting and resizing', () => {
  it('rejects queued calls and leaves running ones alone', async () => {
    const harness = new Harness({ concurrency: 1, queue: 5 });
    const { signal } = new AbortController();
    const lost = new Error('lost');
    harness.calls('a');
    void harness.call('b', { signal, deadline: performance.now() + 100 });
    harness.calls('c');
    harness.gate.rejectQueued(lost);
    await nextIteration();
    expect(Object.fromEntries(harness.outcomes)).toEqual({ b: lost, c: lost });
    expect([listeners(signal), jest.getTimerCount()]).toEqual([0, 0]);
    await harness.answer('a');
    expect(harness.outcomes.get('a')).toBe('answer to a');
  });

  it('is idle when no call runs or waits', async () => {
    const harness = new Harness({ concurrency: 1, queue: 5 });
    await harness.gate.whenIdle();
    harness.calls('a', 'b');
    let idle = 0;
    for (let i = 0; i < 2; i++) void harness.gate.whenIdle().then(() => idle++);
    await harness.answer('a');
    expect(idle).toBe(0);
    await harness.answerAll();
    expect(idle).toBe(2);
  });

  it('starts queued calls when the limits rise, and keeps all calls when they fall', async () => {
    const harness = new Harness({ concurrency: 1, queue: 5 });
    harness.calls('a', 'b', 'c', 'd', 'e');
    harness.resize({ concurrency: 3, queue: 5 });
    expect(harness.running).toEqual(['a', 'b', 'c']);
    harness.resize({ concurrency: 1, queue: 1 });
    harness.calls('refused');
    await harness.answer('a');
    await harness.answer('b');
    expect(harness.running).toEqual(['c']);
    expect([...harness.outcomes.keys()]).toEqual(['refused', 'a', 'b']);
    await harness.answerAll();
    expect(harness.started).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

/** Events at a gate. `n` selects the client, the call, the time or the limits. */
const EVENTS: Record<string, (harness: Harness, clients: AbortController[], n: number) => unknown> = {
  call: (harness, clients, n) => harness.call(`${n % 3} #${harness.made}`, { signal: clients[n]?.signal }),
  callWithDeadline: (harness, _, n) =>
    harness.call(`${n % 3} #${harness.made}`, { deadline: performance.now() + n * 20 }),
  exclusiveCall: (harness, clients, n) =>
    harness.call(`${n % 3} #${harness.made} alone`, { signal: clients[n]?.signal }),
  answer: (harness, _, n) => harness.answer(harness.running[n % 4] ?? ''),
  fail: (harness, _, n) => harness.answer(harness.running[n % 4] ?? '', new Error('broken')),
  abort: (_, clients, n) => clients[n]?.abort(),
  advanceTime: (_server, _clients, n) => jest.advanceTimersByTime(n * 10),
  rejectQueued: (harness) => harness.gate.rejectQueued(new Error('lost')),
  background: (harness, _, n) => harness.background(`${'uvw'[n % 3]} #${harness.made}`),
  resize: (harness, _, n) => harness.resize({ concurrency: (n % 4) + 1, queue: n }),
};

describe('CallGate, any order of events', () => {
  const event = fc.tuple(fc.constantFrom('call', 'answer', ...Object.keys(EVENTS)), fc.nat(7));

  it('keeps its limits, leaves no slot unused, keeps the order of each client and settles every call', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (events) => {
        const harness = new Harness({ concurrency: 2, queue: 4 });
        const clients = Array.from({ length: 8 }, () => new AbortController());
        for (const [name, n] of events) {
          void EVENTS[name]?.(harness, clients, n);
          await nextIteration();
          expect(harness.gate.inFlight).toBe(harness.running.length);
          expect(harness.gate.inFlight > 0 || harness.gate.waiting === 0).toBe(true);
        }
        await harness.answerAll();
        await harness.gate.whenIdle();
        expect(harness.overLimit).toEqual([]);
        expect(harness.outcomes.size).toBe(harness.made);
        expect([harness.gate.inFlight, harness.gate.waiting, jest.getTimerCount()]).toEqual([0, 0, 0]);
        expect(clients.filter(({ signal }) => listeners(signal) > 0)).toEqual([]);
        for (const client of '012uvw') {
          const names = harness.started.filter((name) => name.startsWith(client));
          const own = names.map((name) => parseInt(name.slice(3)));
          expect(own).toEqual(own.toSorted((a, b) => a - b));
        }
      }),
      { numRuns: 250 },
    );
  });
});
