import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CallGateHarness } from '../../test/kit/call-gate-harness.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

describe('CallGate, calls that run alone', () => {
  it('hold back no call of another principal while their own principal has calls in flight', async () => {
    const harness = new CallGateHarness({ concurrency: 4, queue: 100 });
    harness.call('a/1 #1');
    harness.call('a/1 #2', { exclusive: true });
    harness.call('b/1 #1');
    expect(harness.running).toEqual(['a/1 #1', 'b/1 #1']);
    await harness.end('b/1 #1');
    harness.call('b/1 #2');
    await harness.end('a/1 #1');
    harness.call('b/1 #3');
    expect(harness.running).toEqual(['b/1 #2']);
    await harness.end('b/1 #2');
    expect(harness.running).toEqual(['a/1 #2']);
    await harness.end('a/1 #2');
    expect(harness.running).toEqual(['b/1 #3']);
  });

  it('hold back the calls of their own principal, also those of other sessions', async () => {
    const harness = new CallGateHarness({ concurrency: 4, queue: 100 });
    harness.call('a/1 #1');
    harness.call('a/1 #2', { exclusive: true });
    harness.call('a/2 #1');
    expect(harness.running).toEqual(['a/1 #1']);
    await harness.end();
    expect(harness.running).toEqual(['a/1 #2']);
    await harness.end();
    expect(harness.running).toEqual(['a/2 #1']);
  });

  describe.each([
    ['exclusive', 4, true],
    ['at concurrency 1', 1, false],
  ])('%s, and take long', (_what, concurrency, exclusive) => {
    /** `a` has run a call for 20 s while `b` waited, and has further calls in the queue. */
    async function afterLongCall(): Promise<CallGateHarness> {
      const harness = new CallGateHarness({ concurrency, queue: 100 });
      for (let n = 1; n <= 3; n++) harness.call(`a/1 #${n}`, { exclusive });
      harness.call('b/1 #1');
      await jest.advanceTimersByTimeAsync(20_000);
      await harness.end('a/1 #1');
      expect(harness.running).toEqual(['b/1 #1']);
      return harness;
    }

    it('leave as much time to a principal that makes one call after the other', async () => {
      const harness = await afterLongCall();
      let calls = 1;
      const startedAt = performance.now();
      while (harness.of('a').length === 0) {
        await jest.advanceTimersByTimeAsync(100);
        await harness.end(`b/1 #${calls}`);
        await jest.advanceTimersByTimeAsync(500);
        harness.call(`b/1 #${++calls}`);
      }
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(20_000);
      expect(performance.now() - startedAt).toBeLessThan(21_500);
      expect(calls).toBeGreaterThan(30);
    });

    it('wait until those of others that took less time have ended, and not for each other', async () => {
      const harness = await afterLongCall();
      harness.call('b/1 #2');
      await jest.advanceTimersByTimeAsync(5_000);
      await harness.end();
      expect(harness.running).toEqual(['b/1 #2']);
      await harness.end();
      await jest.advanceTimersByTimeAsync(1100);
      expect(harness.running).toEqual(['a/1 #2']);
    });

    it('wait for a second if the other principals make no further calls', async () => {
      const harness = await afterLongCall();
      await harness.end();
      await jest.advanceTimersByTimeAsync(900);
      expect(harness.running).toEqual([]);
      await jest.advanceTimersByTimeAsync(200);
      expect(harness.running).toEqual(['a/1 #2']);
    });
  });

  it('count the time for which they held back the calls of others', async () => {
    const harness = new CallGateHarness({ concurrency: 4, queue: 100 });
    harness.call('c/1 #1');
    for (const n of [1, 2]) harness.call(`a/1 #${n}`, { exclusive: true });
    await jest.advanceTimersByTimeAsync(20_000);
    for (const n of [1, 2]) harness.call(`b/1 #${n}`);
    await harness.end('c/1 #1');
    await harness.end('a/1 #1');
    expect(harness.running).toEqual(['b/1 #1', 'b/1 #2']);
    await harness.end('b/1 #1');
    harness.call('b/1 #3');
    expect(harness.running).toEqual(['b/1 #2', 'b/1 #3']);
  });

  it.each([
    ['are short', 900, true],
    ['are of the only principal', 20_000, false],
  ])('follow each other at once when they %s', async (_what, ms, isShared) => {
    const harness = new CallGateHarness({ concurrency: 1, queue: 100 });
    harness.calls(3, 'a/1');
    if (isShared) harness.call('b/1 #1');
    await jest.advanceTimersByTimeAsync(ms);
    await harness.end();
    expect(harness.running).toEqual(['a/1 #2']);
  });
});
