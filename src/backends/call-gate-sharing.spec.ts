import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { CallGateHarness, nextGateIteration } from '../../test/kit/call-gate-harness.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

describe('CallGate, sharing between principals', () => {
  it('serves principals in turn, independent of the number of their sessions', async () => {
    const harness = new CallGateHarness({ concurrency: 1, queue: 1000 });
    for (let session = 0; session < 100; session++) harness.calls(2, `a/${session}`);
    harness.calls(3, 'b/1');
    for (let n = 0; n < 7; n++) await harness.end();
    expect(harness.started.map((name) => name.charAt(0)).join('')).toBe('aabababa');
  });

  it.each([
    [1, 1],
    [1, 5],
    [3, 5],
  ])(
    'at concurrency %i, a new principal waits for at most one call of each of %i busy principals',
    async (concurrency, busy) => {
      const harness = new CallGateHarness({ concurrency, queue: 1_000 });
      for (let i = 0; i < 500; i++) harness.call(`${i % busy}/1 #${i}`);
      harness.call('newcomer/1 #1');
      while (harness.running.length > 0) await harness.end();
      expect(harness.started.indexOf('newcomer/1 #1') - concurrency).toBeLessThanOrEqual(busy);
    },
  );

  it('serves the sessions of one principal in turn', async () => {
    const harness = new CallGateHarness({ concurrency: 1, queue: 100 });
    harness.calls(5, 'a/1');
    harness.calls(2, 'a/2');
    for (let n = 0; n < 5; n++) await harness.end();
    const sessions = harness.started.map((name) => name.split(' ')[0]);
    expect(sessions).toEqual(['a/1', 'a/1', 'a/2', 'a/1', 'a/2', 'a/1']);
  });

  it.each([
    [1, 1],
    [2, 1],
    [4, 3],
    [16, 12],
    [64, 48],
  ])('lets one principal take of %i slots at most %i while another uses the server', async (slots, most) => {
    const harness = new CallGateHarness({ concurrency: slots, queue: 1000 });
    harness.call('b/1 #1');
    await harness.end();
    harness.calls(100, 'a/1');
    expect(harness.running).toHaveLength(most);
    harness.call('b/1 #2');
    expect(harness.of('b')).toHaveLength(slots === 1 ? 0 : 1);
  });

  it('lets a principal that is alone take all slots, also half a minute after the last call of another', async () => {
    const harness = new CallGateHarness({ concurrency: 8, queue: 1000 });
    harness.calls(8, 'a/1');
    expect(harness.running).toHaveLength(8);
    harness.call('b/1 #1');
    harness.calls(8, 'a/2');
    for (let n = 0; n < 4; n++) await harness.end();
    expect([harness.of('a').length, harness.of('b').length]).toEqual([6, 1]);
    await harness.end('b/1 #1');
    expect(harness.of('a')).toHaveLength(6);
    jest.advanceTimersByTime(30_000);
    await harness.end();
    expect(harness.of('a')).toHaveLength(8);
  });
});

describe('CallGate, slots for new principals where clients authenticate', () => {
  it.each([
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 3],
    [16, 15],
    [64, 60],
    [1000, 938],
  ])('lets a principal that floods alone for a minute take of %i slots at most %i', (slots, most) => {
    const harness = new CallGateHarness({ concurrency: slots, queue: 10_000 }, {}, true);
    for (let seconds = 0; seconds < 60; seconds++) {
      harness.calls(slots, `a/${seconds}`);
      jest.advanceTimersByTime(1000);
    }
    expect(harness.running).toHaveLength(most);
    harness.call('b/1 #1');
    expect(harness.of('b')).toHaveLength(slots < 4 ? 0 : 1);
  });

  it('are left by every principal with a slot, and taken at once by those without', async () => {
    const event = fc.record({
      principal: fc.constantFrom('a', 'b', 'c', 'd'),
      calls: fc.nat(20),
      ends: fc.array(fc.nat(), { maxLength: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 4, max: 40 }), fc.array(event), async (slots, events) => {
        const [reserve, shared] = [16, 4].map((part) => Math.max(1, Math.floor(slots / part))) as [
          number,
          number,
        ];
        const harness = new CallGateHarness({ concurrency: slots, queue: 10_000 }, {}, true);
        const made = new Map<string, number>();
        for (const [n, { principal, calls, ends }] of events.entries()) {
          jest.advanceTimersByTime(31_000);
          harness.calls(calls, `${principal}/${n}`);
          made.set(principal, (made.get(principal) ?? 0) + calls);
          for (const end of ends)
            if (harness.running.length > 0) await harness.end(harness.running[end % harness.running.length]);
          const free = slots - harness.running.length;
          for (const [name, count] of made) {
            const started = harness.started.filter((one) => one.startsWith(name)).length;
            const held = harness.of(name).length;
            expect(held).toBeLessThanOrEqual(slots - reserve);
            const mayStayFree = held === 0 ? 0 : shared;
            expect(started === count || free <= mayStayFree).toBe(true);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('are free for the first request of the gateway itself', () => {
    const harness = new CallGateHarness({ concurrency: 4, queue: 100 }, {}, true);
    harness.calls(4, 'a/1');
    expect(harness.running).toHaveLength(3);
    harness.background('list 1');
    expect(harness.running).toHaveLength(4);
  });

  it('are not free for further requests of the gateway itself', () => {
    const harness = new CallGateHarness({ concurrency: 4, queue: 100 }, {}, true);
    harness.calls(2, 'a/1');
    for (const n of [1, 2]) harness.background(`list ${n}`);
    expect(harness.running).toHaveLength(3);
    harness.call('b/1 #1');
    expect(harness.of('b')).toHaveLength(1);
  });
});

describe('CallGate, a full queue', () => {
  it('refuses the newest call of the principal with the most, and queues the arriving call in its place', async () => {
    const harness = new CallGateHarness({ concurrency: 1, queue: 4 });
    harness.calls(3, 'a/1');
    harness.calls(2, 'a/2');
    harness.call('b/1 #1');
    await nextGateIteration();
    expect(harness.outcomes.get('a/2 #2')).toMatchObject({
      kind: 'overloaded',
      data: { code: 'Overloaded', server: 'db', limit: 4 },
    });
    expect([harness.outcomes.size, harness.gate.waiting]).toEqual([1, 4]);
    await harness.end();
    await harness.end();
    expect(harness.running).toEqual(['b/1 #1']);
    expect(harness.refused).toEqual(['queue']);
  });

  it('refuses the arriving call when its own principal would have the most', async () => {
    const harness = new CallGateHarness({ concurrency: 1, queue: 4 });
    harness.calls(5, 'a/1');
    harness.calls(4, 'b/1');
    await nextGateIteration();
    expect([...harness.outcomes.keys()].toSorted()).toEqual(['a/1 #4', 'a/1 #5', 'b/1 #3', 'b/1 #4']);
    expect(harness.gate.waiting).toBe(4);
  });

  it('leaves a client with few calls all of them beside a flood', async () => {
    const harness = new CallGateHarness({ concurrency: 1, queue: 100 });
    for (let session = 0; session < 50; session++) harness.calls(10, `a/${session}`);
    harness.calls(30, 'b/1');
    await nextGateIteration();
    expect([...harness.outcomes.keys()].filter((name) => name.startsWith('b'))).toEqual([]);
  });

  it('says when to come back, from the rate at which calls ended while the queue was in use', async () => {
    const harness = new CallGateHarness({ concurrency: 1, queue: 10 });
    harness.calls(11, 'a/1');
    for (let n = 0; n < 4; n++) {
      jest.advanceTimersByTime(250);
      await harness.end();
    }
    harness.calls(5, 'a/2');
    await nextGateIteration();
    expect(harness.outcomes.get('a/2 #5')).toMatchObject({ data: { retryAfterMs: 2500 } });
  });
});

describe('CallGate, limits per principal', () => {
  it('refuses more queued calls of one principal than the limit, and none of another', async () => {
    const harness = new CallGateHarness({ concurrency: 1, queue: 100 }, { queuedPerPrincipal: 3 });
    harness.calls(3, 'a/1');
    harness.calls(3, 'a/2');
    harness.calls(3, 'b/1');
    await nextGateIteration();
    expect([...harness.outcomes.keys()]).toEqual(['a/2 #2', 'a/2 #3']);
    expect(harness.outcomes.get('a/2 #2')).toMatchObject({
      kind: 'limit-exceeded',
      message: 'LimitExceeded: 3 calls of this principal wait for server db',
      data: { code: 'LimitExceeded', server: 'db', limit: 3, retryAfterMs: 1000 },
    });
    expect(harness.refused).toEqual(['queuedPerPrincipal', 'queuedPerPrincipal']);
  });

  it('refuses more calls in flight of one principal than the limit, over all servers', async () => {
    const one = new CallGateHarness({ concurrency: 9, queue: 9 });
    const quotas = one.quotas({ callsPerPrincipal: 3 });
    const [first, second] = [1, 2].map(() => new CallGateHarness({ concurrency: 9, queue: 9 }, quotas));
    first!.calls(2, 'a/1');
    second!.calls(2, 'a/1');
    second!.calls(3, 'b/1');
    await nextGateIteration();
    expect([...second!.outcomes.keys()]).toEqual(['a/1 #2']);
    expect(second!.outcomes.get('a/1 #2')).toMatchObject({
      kind: 'limit-exceeded',
      data: { code: 'LimitExceeded', limit: 3 },
    });
    expect(one.refused).toEqual(['callsPerPrincipal']);
    await first!.end();
    second!.call('a/1 #3');
    expect(second!.of('a')).toEqual(['a/1 #1', 'a/1 #3']);
  });

  it('refuses a call at once that could only wait, while its principal has the maximum of calls in flight', async () => {
    const one = new CallGateHarness({ concurrency: 1, queue: 9 });
    const quotas = one.quotas({ callsPerPrincipal: 1 });
    const [first, second] = [1, 2].map(() => new CallGateHarness({ concurrency: 1, queue: 9 }, quotas));
    first!.call('a/1 #1');
    second!.call('b/1 #1');
    second!.call('a/1 #2');
    await nextGateIteration();
    expect(second!.outcomes.get('a/1 #2')).toMatchObject({ data: { code: 'LimitExceeded', limit: 1 } });
  });

  it('does not count waiting calls as calls in flight', async () => {
    const harness = new CallGateHarness({ concurrency: 1, queue: 9 }, { callsPerPrincipal: 2 });
    harness.calls(5, 'a/1');
    for (let n = 0; n < 5; n++) await harness.end();
    expect([...harness.outcomes.values()]).toEqual(Array(5).fill('done'));
  });
});

describe('CallGate, requests of the gateway itself', () => {
  it('count as requests in flight', async () => {
    const harness = new CallGateHarness({ concurrency: 1, queue: 9 });
    harness.background('list 1');
    harness.background('list 2');
    harness.call('a/1 #1');
    expect(harness.running).toEqual(['list 1']);
    expect([harness.gate.inFlight, harness.gate.waiting]).toEqual([1, 2]);
    await harness.end();
    expect(harness.running).toHaveLength(1);
  });

  it('take turns with calls', async () => {
    const harness = new CallGateHarness({ concurrency: 1, queue: 9 });
    harness.calls(4, 'a/1');
    for (const n of [1, 2, 3]) harness.background(`list ${n}`);
    for (let n = 0; n < 6; n++) await harness.end();
    expect(harness.started.map((name) => name.charAt(0)).join('')).toBe('aalalal');
  });

  it.each([
    [1, 1],
    [2, 1],
    [5, 3],
    [64, 32],
  ])('take of %i slots at most %i, so that hanging ones leave slots for calls', (slots, most) => {
    const harness = new CallGateHarness({ concurrency: slots, queue: 9 });
    for (let n = 0; n < 100; n++) harness.background(`list ${n}`);
    expect(harness.running).toHaveLength(most);
    harness.call('a/1 #1');
    expect(harness.of('a')).toHaveLength(slots === 1 ? 0 : 1);
  });

  it('wait without a queue for calls, and are not displaced from a full one', async () => {
    const harness = new CallGateHarness({ concurrency: 1, queue: 0 });
    for (const n of [1, 2, 3]) harness.background(`list ${n}`);
    harness.call('a/1 #1');
    await nextGateIteration();
    expect([...harness.outcomes.keys()]).toEqual(['a/1 #1']);
    for (let n = 0; n < 3; n++) await harness.end();
    expect(harness.started).toEqual(['list 1', 'list 2', 'list 3']);
  });

  it('do not run beside an exclusive call', async () => {
    const harness = new CallGateHarness({ concurrency: 4, queue: 9 });
    harness.background('list 1');
    harness.call('a/1 #1', { exclusive: true });
    expect(harness.running).toEqual(['list 1']);
    await harness.end();
    harness.background('list 2');
    expect(harness.running).toEqual(['a/1 #1']);
    await harness.end();
    expect(harness.running).toEqual(['list 2']);
  });

  it('fail at their deadline while they wait, and when the queue is rejected', async () => {
    const harness = new CallGateHarness({ concurrency: 1, queue: 9 });
    harness.call('a/1 #1');
    harness.background('list 1', performance.now() + 100);
    harness.background('list 2');
    await jest.advanceTimersByTimeAsync(100);
    expect(harness.outcomes.get('list 1')).toMatchObject({ kind: 'timeout' });
    harness.gate.rejectQueued(new Error('lost'));
    await nextGateIteration();
    expect(harness.outcomes.get('list 2')).toEqual(new Error('lost'));
    expect(jest.getTimerCount()).toBe(0);
  });

  it('do not delay the moment at which the gate is idle', async () => {
    const harness = new CallGateHarness({ concurrency: 2, queue: 9 });
    harness.background('list 1');
    harness.call('a/1 #1');
    const idle = jest.fn();
    void harness.gate.whenIdle().then(idle);
    await harness.end('a/1 #1');
    expect(idle).toHaveBeenCalledTimes(1);
  });
});
