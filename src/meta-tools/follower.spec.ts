import { describe, expect, it } from '@jest/globals';
import { outcomeOf, refusalOf, settled } from '../../test/kit/fake-link.js';
import { deferred } from '../../test/kit/until.js';
import { Follower } from './follower.js';

/** Follows a number; each run waits until the spec lets it go on. */
class Counter {
  wanted = 0;
  reached = 0;
  readonly runs: { readonly to: number; readonly end: (error?: Error) => void }[] = [];
  readonly follower = new Follower(
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

describe('Follower', () => {
  it('has nothing to do where all is in step', async () => {
    const counter = new Counter();
    await counter.follower.follow();
    expect(counter.runs).toHaveLength(0);
  });

  it('runs once for all who wait', async () => {
    const counter = new Counter();
    counter.wanted = 1;
    const waiting = Promise.all([counter.follower.follow(), counter.follower.follow()]);
    await settled();
    expect(counter.runs).toHaveLength(1);
    counter.runs[0]!.end();
    await waiting;
    expect(counter.reached).toBe(1);
  });

  it('runs again for what changed while it ran, before anybody goes on', async () => {
    const counter = new Counter();
    counter.wanted = 1;
    const outcome = outcomeOf(counter.follower.follow().then(() => counter.reached));
    counter.wanted = 2;
    counter.runs[0]!.end();
    await settled();
    expect(counter.runs.map(({ to }) => to)).toEqual([1, 2]);
    expect(outcome).toEqual({});
    counter.runs[1]!.end();
    await settled();
    expect(outcome).toEqual({ value: 2 });
  });

  it('takes note of what changes at any moment around the end of a run', async () => {
    for (let hops = 0; hops < 8; hops++) {
      const counter = new Counter();
      counter.wanted = 1;
      void counter.follower.follow();
      counter.runs[0]!.end();
      for (let hop = 0; hop < hops; hop++) await Promise.resolve();
      counter.wanted = 2;
      const reached = counter.follower.follow().then(() => counter.reached);
      await settled();
      for (const run of counter.runs) run.end();
      await settled();
      for (const run of counter.runs) run.end();
      expect(await reached).toBe(2);
    }
  });

  it('tries again after a run that failed', async () => {
    const counter = new Counter();
    counter.wanted = 1;
    const failed = refusalOf(counter.follower.follow());
    counter.runs[0]!.end(new Error('failed'));
    expect((await failed).message).toBe('failed');
    const again = counter.follower.follow();
    counter.runs[1]!.end();
    await again;
    expect(counter.reached).toBe(1);
  });
});
