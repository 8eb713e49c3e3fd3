import { describe, expect, it } from '@jest/globals';
import { outcomeOf, refusalOf, flushPromises } from '../../../test/kit/promises.js';
import { deferred } from '../../../test/kit/until.js';
import { SingleFlight } from './single-flight.js';

/** Copies a number; each update waits until the spec ends it. */
class Counter {
  wanted = 0;
  reached = 0;
  readonly runs: { readonly to: number; readonly end: (error?: Error) => void }[] = [];
  readonly flight = new SingleFlight(
    () => this.reached === this.wanted,
    async () => {
      const to = this.wanted;
      const { promise, resolve } = deferred<Error | undefined>();
      this.runs.push({ to, end: resolve });
      const error = await promise;
      if (error) throw error;
      this.reached = to;
    },
  );
}

describe('SingleFlight', () => {
  it('runs no update when the state is up to date', async () => {
    const counter = new Counter();
    await counter.flight.bringUpToDate();
    expect(counter.runs).toHaveLength(0);
  });

  it('runs one update for concurrent callers', async () => {
    const counter = new Counter();
    counter.wanted = 1;
    const waiting = Promise.all([counter.flight.bringUpToDate(), counter.flight.bringUpToDate()]);
    await flushPromises();
    expect(counter.runs).toHaveLength(1);
    counter.runs[0]!.end();
    await waiting;
    expect(counter.reached).toBe(1);
  });

  it('runs another update for a change made during a run before it resolves', async () => {
    const counter = new Counter();
    counter.wanted = 1;
    const outcome = outcomeOf(counter.flight.bringUpToDate().then(() => counter.reached));
    counter.wanted = 2;
    counter.runs[0]!.end();
    await flushPromises();
    expect(counter.runs.map(({ to }) => to)).toEqual([1, 2]);
    expect(outcome).toEqual({});
    counter.runs[1]!.end();
    await flushPromises();
    expect(outcome).toEqual({ value: 2 });
  });

  it('notices a change made at any moment around the end of a run', async () => {
    for (let hops = 0; hops < 8; hops++) {
      const counter = new Counter();
      counter.wanted = 1;
      void counter.flight.bringUpToDate();
      counter.runs[0]!.end();
      for (let hop = 0; hop < hops; hop++) await Promise.resolve();
      counter.wanted = 2;
      const reached = counter.flight.bringUpToDate().then(() => counter.reached);
      await flushPromises();
      for (const run of counter.runs) run.end();
      await flushPromises();
      for (const run of counter.runs) run.end();
      expect(await reached).toBe(2);
    }
  });

  it('runs again after an update that failed', async () => {
    const counter = new Counter();
    counter.wanted = 1;
    const failed = refusalOf(counter.flight.bringUpToDate());
    counter.runs[0]!.end(new Error('failed'));
    expect((await failed).message).toBe('failed');
    const again = counter.flight.bringUpToDate();
    counter.runs[1]!.end();
    await again;
    expect(counter.reached).toBe(1);
  });
});
