import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { getEventListeners } from 'node:events';
import { GatewayError } from '../core/errors.js';
import { CallGate, type CallLimits, type QueueOptions } from './call-gate.js';

/** A server whose calls the test answers explicitly. */
class ScriptedServer {
  made = 0;
  readonly started: string[] = [];
  /** Calls that started where the limits forbade it. */
  readonly crowded: string[] = [];
  readonly outcomes = new Map<string, unknown>();
  readonly gate: CallGate;
  private readonly open = new Map<string, { resolve(value: string): void; reject(error: Error): void }>();

  constructor(private limits: CallLimits) {
    this.gate = new CallGate('db', limits);
  }

  /** The client is the first letter of the call's name; an exclusive call is named as being alone. */
  async call(name: string, options: QueueOptions = {}): Promise<void> {
    this.made++;
    const exclusive = name.endsWith('alone');
    const answer = (): Promise<string> => {
      const slots =
        exclusive || this.running.some((other) => other.endsWith('alone')) ? 1 : this.limits.concurrency;
      if (this.open.size >= slots) this.crowded.push(name);
      this.started.push(name);
      return new Promise((resolve, reject) => this.open.set(name, { resolve, reject }));
    };
    try {
      this.outcomes.set(name, await this.gate.run(name.charAt(0), answer, { exclusive, ...options }));
    } catch (error) {
      this.outcomes.set(name, error);
    }
  }

  resize(limits: CallLimits): void {
    this.limits = limits;
    this.gate.setLimits(limits);
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
    await settled();
  }

  /** Answers the oldest running call until none is left. */
  async answerAll(): Promise<void> {
    for (let name = this.running[0]; name; name = this.running[0]) await this.answer(name);
  }
}

/** One iteration of the event loop, after which every settled promise has called its listeners. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

const broken = (): Promise<never> => {
  throw new Error('broken');
};

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

describe('CallGate', () => {
  it('starts a call at once when a slot is free, with no listener and no timer', async () => {
    const server = new ScriptedServer({ concurrency: 1, queue: 0 });
    const { signal } = new AbortController();
    void server.call('a', { signal, deadline: performance.now() + 100 });
    expect(server.started).toEqual(['a']);
    expect(server.gate.inFlight).toBe(1);
    expect([listeners(signal), jest.getTimerCount()]).toEqual([0, 0]);
    await server.answer('a');
    expect(server.outcomes.get('a')).toBe('answer to a');
    expect(server.gate.inFlight).toBe(0);
  });

  it('limits the calls in flight and alternates between waiting clients', async () => {
    const server = new ScriptedServer({ concurrency: 2, queue: 10 });
    server.calls('a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1');
    expect(server.running).toEqual(['a1', 'a2']);
    expect(server.gate.waiting).toBe(5);
    await server.answerAll();
    expect(server.started).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'a4', 'a5']);
    expect(server.outcomes.size).toBe(7);
  });

  it.each([0, 1, 3])('refuses a call at once when %i already wait', async (queue) => {
    const server = new ScriptedServer({ concurrency: 1, queue });
    server.calls('running', ...Array.from({ length: queue }, (_, i) => `waiting ${i}`), 'refused');
    await settled();
    expect(server.outcomes.get('refused')).toBeInstanceOf(GatewayError);
    expect(server.outcomes.get('refused')).toMatchObject({
      kind: 'overloaded',
      message: `Overloaded: server db already has ${queue} calls waiting`,
      data: { code: 'Overloaded', server: 'db', limit: queue },
    });
    expect(server.outcomes.size).toBe(1);
  });

  it('frees the slot of a call that rejects', async () => {
    const server = new ScriptedServer({ concurrency: 1, queue: 1 });
    server.calls('a', 'b');
    await server.answer('a', new Error('broken'));
    expect(server.outcomes.get('a')).toEqual(new Error('broken'));
    expect(server.running).toEqual(['b']);
  });

  it('frees the slot of a call that throws at once, once, however many in a row', async () => {
    const server = new ScriptedServer({ concurrency: 1, queue: 20_000 });
    await expect(server.gate.run('a', broken)).rejects.toThrow('broken');
    expect(server.gate.inFlight).toBe(0);
    server.calls('first');
    const outcomes = Promise.allSettled(Array.from({ length: 20_000 }, () => server.gate.run('a', broken)));
    await server.answer('first');
    expect((await outcomes).every((outcome) => outcome.status === 'rejected')).toBe(true);
    expect([server.gate.inFlight, server.gate.waiting]).toEqual([0, 0]);
  });
});

describe('CallGate, cancelling', () => {
  it('does not start a call that is cancelled already', async () => {
    const server = new ScriptedServer({ concurrency: 1, queue: 1 });
    await server.call('a', { signal: AbortSignal.abort('gone') });
    expect(server.started).toEqual([]);
    expect(server.outcomes.get('a')).toMatchObject({ kind: 'cancelled', cause: 'gone' });
  });

  it('frees the place of a queued call at once', async () => {
    const server = new ScriptedServer({ concurrency: 1, queue: 1 });
    const client = new AbortController();
    server.calls('a');
    void server.call('b', { signal: client.signal });
    client.abort();
    expect(server.gate.waiting).toBe(0);
    server.calls('c');
    expect(server.gate.waiting).toBe(1);
    await settled();
    expect(server.outcomes.get('b')).toMatchObject({ kind: 'cancelled', data: { server: 'db' } });
    expect(listeners(client.signal)).toBe(0);
    await server.answerAll();
    expect(server.started).toEqual(['a', 'c']);
  });

  it('removes its abort listener when the call starts', async () => {
    const server = new ScriptedServer({ concurrency: 1, queue: 1 });
    const { signal } = new AbortController();
    server.calls('a');
    void server.call('b', { signal });
    await server.answer('a');
    expect([server.running, listeners(signal)]).toEqual([['b'], 0]);
  });

  it('starts queued calls when the exclusive call before them leaves the queue', () => {
    const server = new ScriptedServer({ concurrency: 3, queue: 5 });
    const client = new AbortController();
    server.calls('a');
    void server.call('x alone', { signal: client.signal });
    server.calls('b');
    void server.call('y alone', { deadline: performance.now() + 20 });
    server.calls('c');
    expect(server.running).toEqual(['a']);
    client.abort();
    expect(server.running).toEqual(['a', 'b']);
    jest.advanceTimersByTime(20);
    expect(server.running).toEqual(['a', 'b', 'c']);
  });

  it('starts none of the calls that one signal cancels together', async () => {
    const server = new ScriptedServer({ concurrency: 2, queue: 5 });
    const client = new AbortController();
    server.calls('a');
    void server.call('x alone', { signal: client.signal });
    void server.call('y', { signal: client.signal });
    client.abort();
    await server.answerAll();
    expect(server.started).toEqual(['a']);
    expect(server.outcomes.get('y')).toMatchObject({ kind: 'cancelled' });
    expect(listeners(client.signal)).toBe(0);
  });
});

describe('CallGate, deadlines', () => {
  it('fails a call that still waits at its deadline, and no other', async () => {
    const server = new ScriptedServer({ concurrency: 1, queue: 5 });
    const { signal } = new AbortController();
    const now = performance.now();
    server.calls('running', 'patient');
    void server.call('late', { deadline: now + 300 });
    void server.call('early', { deadline: now + 100, signal });
    expect(jest.getTimerCount()).toBe(1);

    await jest.advanceTimersByTimeAsync(99);
    expect(server.outcomes.size).toBe(0);
    await jest.advanceTimersByTimeAsync(1);
    expect([...server.outcomes.keys()]).toEqual(['early']);
    expect(server.outcomes.get('early')).toMatchObject({ kind: 'timeout', data: { code: 'TIMEOUT' } });
    expect(listeners(signal)).toBe(0);
    await jest.advanceTimersByTimeAsync(200);
    expect([...server.outcomes.keys()]).toEqual(['early', 'late']);
    expect([server.gate.waiting, jest.getTimerCount()]).toEqual([1, 0]);
  });

  it('does not start a call whose deadline has passed before the timer fired', async () => {
    const server = new ScriptedServer({ concurrency: 1, queue: 1 });
    const deadline = performance.now() + 50;
    server.calls('a');
    void server.call('b', { deadline });
    const clock = jest.spyOn(performance, 'now').mockReturnValue(deadline);
    await server.answer('a');
    clock.mockRestore();
    expect(server.outcomes.get('b')).toMatchObject({ kind: 'timeout' });
    expect(server.started).toEqual(['a']);
  });

  it('fails calls in time while further calls with close deadlines arrive', () => {
    const server = new ScriptedServer({ concurrency: 1, queue: 20 });
    server.calls('running');
    for (let i = 0; i < 20; i++) {
      void server.call(`waiting ${i}`, { deadline: performance.now() });
      jest.advanceTimersByTime(5);
    }
    expect(server.gate.waiting).toBeLessThanOrEqual(2);
  });

  it('sets no timer that keeps the process alive or that setTimeout would cut to 1 ms', () => {
    const setTimer = jest.spyOn(globalThis, 'setTimeout');
    const server = new ScriptedServer({ concurrency: 1, queue: 2 });
    server.calls('running');
    void server.call('endless', { deadline: Infinity });
    void server.call('ages', { deadline: 1e15 });
    expect(setTimer.mock.calls.map(([, ms]) => ms)).toEqual([2 ** 31 - 1]);
    expect(setTimer.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([false]);
  });

  it('fails each call within a step of its deadline, and never before', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 20 }), async (delays) => {
        const server = new ScriptedServer({ concurrency: 1, queue: 20 });
        const from = performance.now();
        server.calls('running');
        const waits = delays.map(async (delay, i) => {
          await server.call(`waiting ${i}`, { deadline: from + delay });
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
  it('starts an exclusive call when no other is in flight, and no other beside it', async () => {
    const server = new ScriptedServer({ concurrency: 5, queue: 5 });
    server.calls('x alone', 'a', 'b', 'y alone');
    expect(server.running).toEqual(['x alone']);
    await server.answer('x alone');
    expect(server.running).toEqual(['a', 'b']);
    await server.answerAll();
    expect(server.started).toEqual(['x alone', 'a', 'b', 'y alone']);
    expect(server.crowded).toEqual([]);
  });

  it('starts no call before an exclusive call that is first in the queue', async () => {
    const server = new ScriptedServer({ concurrency: 3, queue: 100 });
    server.calls('a1', 'a2', 'x alone', 'a3', 'b1', 'c1');
    await server.answer('a1');
    expect(server.running).toEqual(['a2']);
    await server.answer('a2');
    expect(server.running).toEqual(['x alone']);
  });
});

describe('CallGate, rejecting and resizing', () => {
  it('rejects queued calls and leaves running ones alone', async () => {
    const server = new ScriptedServer({ concurrency: 1, queue: 5 });
    const { signal } = new AbortController();
    const lost = new Error('lost');
    server.calls('a');
    void server.call('b', { signal, deadline: performance.now() + 100 });
    server.calls('c');
    server.gate.rejectQueued(lost);
    await settled();
    expect(Object.fromEntries(server.outcomes)).toEqual({ b: lost, c: lost });
    expect([listeners(signal), jest.getTimerCount()]).toEqual([0, 0]);
    await server.answer('a');
    expect(server.outcomes.get('a')).toBe('answer to a');
  });

  it('is idle when no call runs or waits', async () => {
    const server = new ScriptedServer({ concurrency: 1, queue: 5 });
    await server.gate.whenIdle();
    server.calls('a', 'b');
    let idle = 0;
    for (let i = 0; i < 2; i++) void server.gate.whenIdle().then(() => idle++);
    await server.answer('a');
    expect(idle).toBe(0);
    await server.answerAll();
    expect(idle).toBe(2);
  });

  it('starts queued calls when the limits rise, and keeps all calls when they fall', async () => {
    const server = new ScriptedServer({ concurrency: 1, queue: 5 });
    server.calls('a', 'b', 'c', 'd', 'e');
    server.resize({ concurrency: 3, queue: 5 });
    expect(server.running).toEqual(['a', 'b', 'c']);
    server.resize({ concurrency: 1, queue: 1 });
    server.calls('refused');
    await server.answer('a');
    await server.answer('b');
    expect(server.running).toEqual(['c']);
    expect([...server.outcomes.keys()]).toEqual(['refused', 'a', 'b']);
    await server.answerAll();
    expect(server.started).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

/** What can happen at a gate; `n` picks the client, the call, the time or the size. */
const EVENTS: Record<string, (server: ScriptedServer, clients: AbortController[], n: number) => unknown> = {
  call: (server, clients, n) => server.call(`${n % 3} #${server.made}`, { signal: clients[n]?.signal }),
  hurry: (server, _, n) => server.call(`${n % 3} #${server.made}`, { deadline: performance.now() + n * 20 }),
  lock: (server, clients, n) => server.call(`${n % 3} #${server.made} alone`, { signal: clients[n]?.signal }),
  answer: (server, _, n) => server.answer(server.running[n % 4] ?? ''),
  fail: (server, _, n) => server.answer(server.running[n % 4] ?? '', new Error('broken')),
  abort: (_, clients, n) => clients[n]?.abort(),
  pass: (_server, _clients, n) => jest.advanceTimersByTime(n * 10),
  lose: (server) => server.gate.rejectQueued(new Error('lost')),
  resize: (server, _, n) => server.resize({ concurrency: (n % 4) + 1, queue: n }),
};

describe('CallGate, any order of events', () => {
  const event = fc.tuple(fc.constantFrom('call', 'answer', ...Object.keys(EVENTS)), fc.nat(7));

  it('keeps its limits, leaves no slot unused, keeps the order of each client and settles every call', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (events) => {
        const server = new ScriptedServer({ concurrency: 2, queue: 4 });
        const clients = Array.from({ length: 8 }, () => new AbortController());
        for (const [name, n] of events) {
          void EVENTS[name]?.(server, clients, n);
          await settled();
          expect(server.gate.inFlight).toBe(server.running.length);
          expect(server.gate.inFlight > 0 || server.gate.waiting === 0).toBe(true);
        }
        await server.answerAll();
        await server.gate.whenIdle();
        expect(server.crowded).toEqual([]);
        expect(server.outcomes.size).toBe(server.made);
        expect([server.gate.inFlight, server.gate.waiting, jest.getTimerCount()]).toEqual([0, 0, 0]);
        expect(clients.filter(({ signal }) => listeners(signal) > 0)).toEqual([]);
        for (const client of '012') {
          const names = server.started.filter((name) => name.startsWith(client));
          const own = names.map((name) => parseInt(name.slice(3)));
          expect(own).toEqual(own.toSorted((a, b) => a - b));
        }
      }),
      { numRuns: 250 },
    );
  });

  it.each([
    [1, 1],
    [1, 5],
    [3, 5],
  ])(
    'at concurrency %i, a new client waits for at most one call of each of %i busy clients',
    async (width, busy) => {
      const server = new ScriptedServer({ concurrency: width, queue: 1_000 });
      for (let i = 0; i < 500; i++) server.calls(`${i % busy} #${i}`);
      server.calls('newcomer');
      await server.answerAll();
      expect(server.started.indexOf('newcomer') - width).toBeLessThanOrEqual(busy);
    },
  );
});
