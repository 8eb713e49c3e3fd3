import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { settled } from '../../../test/kit/fake-link.js';
import { DebouncedTask } from './debounced-task.js';

/** Runs that the spec ends by hand; the times at which they began, from the first on. */
class Runs {
  readonly began: number[] = [];
  active = 0;
  mostActive = 0;
  end: () => void = () => {};
  private readonly start = performance.now();
  readonly resync = new DebouncedTask(() => this.run());

  /** How long a run takes; without one, the spec ends it. */
  constructor(private readonly takesMs?: number) {}

  private async run(): Promise<void> {
    this.began.push(Math.round(performance.now() - this.start));
    this.mostActive = Math.max(this.mostActive, ++this.active);
    await new Promise<void>((resolve) => {
      this.end = resolve;
      if (this.takesMs !== undefined) setTimeout(resolve, this.takesMs);
    });
    this.active--;
  }

  async finish(): Promise<void> {
    this.end();
    await settled();
  }
}

async function pass(ms: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms);
}

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

describe('a resync', () => {
  it('runs at once when it must be now', () => {
    const runs = new Runs();
    runs.resync.runNow();
    expect(runs.began).toEqual([0]);
  });

  it('takes a burst of requests as one', async () => {
    const runs = new Runs(0);
    for (let n = 0; n < 50; n++) runs.resync.schedule();
    expect(runs.began).toEqual([]);
    await pass(5000);
    expect(runs.began).toEqual([100]);
  });

  it('keeps its runs a second apart', async () => {
    const runs = new Runs(0);
    runs.resync.runNow();
    await pass(200);
    runs.resync.schedule();
    await pass(5000);
    expect(runs.began).toEqual([0, 1000]);
  });

  it('runs right after the run there is when it must be now', async () => {
    const runs = new Runs();
    runs.resync.runNow();
    await pass(300);
    runs.resync.runNow();
    expect(runs.began).toEqual([0]);
    await runs.finish();
    expect(runs.began).toEqual([0, 300]);
  });

  it('runs once more when it was asked during a run, a second after it began', async () => {
    const runs = new Runs();
    runs.resync.runNow();
    await pass(100);
    for (let n = 0; n < 5; n++) runs.resync.schedule();
    await runs.finish();
    await pass(899);
    expect(runs.began).toEqual([0]);
    await pass(1);
    expect(runs.began).toEqual([0, 1000]);
  });

  it('waits for a far request no longer than for a near one', async () => {
    const runs = new Runs(0);
    runs.resync.schedule(5000);
    await pass(200);
    runs.resync.schedule();
    await pass(100);
    expect(runs.began).toEqual([300]);
    await pass(10_000);
    expect(runs.began).toEqual([300]);
  });

  it('does nothing once it is stopped, neither what was planned nor what is asked', async () => {
    const runs = new Runs();
    runs.resync.runNow();
    runs.resync.schedule();
    runs.resync.stop();
    await runs.finish();
    runs.resync.runNow();
    runs.resync.schedule();
    await pass(5000);
    expect(runs.began).toEqual([0]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('stands a storm: one run at a time, none closer than a second, and one after the last request', async () => {
    const storms = fc.record({
      gaps: fc.array(fc.nat(400), { minLength: 1, maxLength: 40 }),
      takesMs: fc.nat(1500),
    });
    await fc.assert(
      fc.asyncProperty(storms, async ({ gaps, takesMs }) => {
        const runs = new Runs(takesMs);
        let last = 0;
        for (const gap of gaps) {
          await pass(gap);
          last += gap;
          runs.resync.schedule();
        }
        await pass(10_000);
        const apart = runs.began.slice(1).map((time, n) => time - runs.began[n]!);
        expect(runs.mostActive).toBe(1);
        expect(Math.min(Infinity, ...apart)).toBeGreaterThanOrEqual(999);
        expect(runs.began.at(-1)).toBeGreaterThanOrEqual(last);
        expect(runs.began.length).toBeLessThanOrEqual(2 + last / 1000);
      }),
      { numRuns: 40 },
    );
  });
});
