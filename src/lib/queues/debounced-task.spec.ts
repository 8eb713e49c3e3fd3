import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { flushPromises } from '../../../test/kit/promises.js';
import { DebouncedTask } from './debounced-task.js';

/** The runs of a task, with the times of their starts. */
class Runs {
  readonly starts: number[] = [];
  active = 0;
  maxActive = 0;
  end: () => void = () => {};
  private readonly start = performance.now();
  readonly task = new DebouncedTask(() => this.run(), { debounceMs: 100, minIntervalMs: 1000 });

  /** Duration of a run; without it, the spec ends the run. */
  constructor(private readonly durationMs?: number) {}

  private async run(): Promise<void> {
    this.starts.push(Math.round(performance.now() - this.start));
    this.maxActive = Math.max(this.maxActive, ++this.active);
    await new Promise<void>((resolve) => {
      this.end = resolve;
      if (this.durationMs !== undefined) setTimeout(resolve, this.durationMs);
    });
    this.active--;
  }

  async finish(): Promise<void> {
    this.end();
    await flushPromises();
  }
}

async function advance(ms: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms);
}

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

describe('DebouncedTask', () => {
  it('runs at once on runNow', () => {
    const runs = new Runs();
    runs.task.runNow();
    expect(runs.starts).toEqual([0]);
  });

  it('merges a burst of requests into one run', async () => {
    const runs = new Runs(0);
    for (let n = 0; n < 50; n++) runs.task.schedule();
    expect(runs.starts).toEqual([]);
    await advance(5000);
    expect(runs.starts).toEqual([100]);
  });

  it('resolves a waiting request after the run that began after it', async () => {
    const runs = new Runs();
    const resolved: string[] = [];
    runs.task.runNow();
    for (const name of ['a', 'b']) void runs.task.scheduled().then(() => resolved.push(name));
    await runs.finish();
    await advance(999);
    expect([runs.starts, resolved]).toEqual([[0], []]);
    await advance(1);
    expect([runs.starts, resolved]).toEqual([[0, 1000], []]);
    await runs.finish();
    expect(resolved).toEqual(['a', 'b']);
  });

  it('resolves waiting requests when it is stopped', async () => {
    const runs = new Runs();
    const resolved: string[] = [];
    runs.task.runNow();
    void runs.task.scheduled().then(() => resolved.push('before'));
    runs.task.stop();
    void runs.task.scheduled().then(() => resolved.push('after'));
    await flushPromises();
    expect(resolved.toSorted()).toEqual(['after', 'before']);
  });

  it('keeps the minimum interval between scheduled runs', async () => {
    const runs = new Runs(0);
    runs.task.runNow();
    await advance(200);
    runs.task.schedule();
    await advance(5000);
    expect(runs.starts).toEqual([0, 1000]);
  });

  it('runs right after the active run on runNow', async () => {
    const runs = new Runs();
    runs.task.runNow();
    await advance(300);
    runs.task.runNow();
    expect(runs.starts).toEqual([0]);
    await runs.finish();
    expect(runs.starts).toEqual([0, 300]);
  });

  it('runs once more after requests during a run, one interval after its start', async () => {
    const runs = new Runs();
    runs.task.runNow();
    await advance(100);
    for (let n = 0; n < 5; n++) runs.task.schedule();
    await runs.finish();
    await advance(899);
    expect(runs.starts).toEqual([0]);
    await advance(1);
    expect(runs.starts).toEqual([0, 1000]);
  });

  it('runs at the earlier of two requested times, once', async () => {
    const runs = new Runs(0);
    runs.task.schedule(5000);
    await advance(200);
    runs.task.schedule();
    await advance(100);
    expect(runs.starts).toEqual([300]);
    await advance(10_000);
    expect(runs.starts).toEqual([300]);
  });

  it('starts no run after stop', async () => {
    const runs = new Runs();
    runs.task.runNow();
    runs.task.schedule();
    runs.task.stop();
    await runs.finish();
    runs.task.runNow();
    runs.task.schedule();
    await advance(5000);
    expect(runs.starts).toEqual([0]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('runs one at a time, at the minimum interval and after the last request, in any sequence of requests', async () => {
    const sequences = fc.record({
      gaps: fc.array(fc.nat(400), { minLength: 1, maxLength: 40 }),
      durationMs: fc.nat(1500),
    });
    await fc.assert(
      fc.asyncProperty(sequences, async ({ gaps, durationMs }) => {
        const runs = new Runs(durationMs);
        let last = 0;
        for (const gap of gaps) {
          await advance(gap);
          last += gap;
          runs.task.schedule();
        }
        await advance(10_000);
        const intervals = runs.starts.slice(1).map((time, n) => time - runs.starts[n]!);
        expect(runs.maxActive).toBe(1);
        expect(Math.min(Infinity, ...intervals)).toBeGreaterThanOrEqual(999);
        expect(runs.starts.at(-1)).toBeGreaterThanOrEqual(last);
        expect(runs.starts.length).toBeLessThanOrEqual(2 + last / 1000);
      }),
      { numRuns: 40 },
    );
  });
});
