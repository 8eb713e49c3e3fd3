import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { TokenBucket } from './token-bucket.js';

describe('TokenBucket', () => {
  it('allows so many events in each interval, and returns how many were refused before', () => {
    const bucket = new TokenBucket({ burst: 2, refill: 2, intervalMs: 1000 });
    const taken = [0, 1, 2, 999, 1000, 1001, 1999, 5000].map((now) => bucket.take(now));
    expect(taken).toEqual([0, 0, undefined, undefined, 2, 0, undefined, 1]);
  });

  it('allows a burst, and then as many events as intervals have passed', () => {
    const bucket = new TokenBucket({ burst: 3, refill: 1, intervalMs: 10 });
    const taken = [0, 0, 0, 9, 10, 19, 35, 35, 35].map((now) => bucket.take(now));
    expect(taken).toEqual([0, 0, 0, undefined, 1, undefined, 1, 0, undefined]);
  });

  it('saves at most a burst', () => {
    const bucket = new TokenBucket({ burst: 3, refill: 1, intervalMs: 10 });
    bucket.take(0);
    expect([0, 1, 2, 3].map(() => bucket.take(1e9))).toEqual([0, 0, 0, undefined]);
  });

  it('is empty while the next event would be refused', () => {
    const bucket = new TokenBucket({ burst: 1, refill: 1, intervalMs: 60_000 });
    expect(bucket.isEmpty).toBe(false);
    bucket.take();
    expect(bucket.isEmpty).toBe(true);
  });

  it('never allows more than a burst and the refills of the time that passed', () => {
    const rate = fc.record({
      burst: fc.integer({ min: 1, max: 20 }),
      refill: fc.integer({ min: 1, max: 20 }),
      intervalMs: fc.integer({ min: 1, max: 100 }),
    });
    fc.assert(
      fc.property(rate, fc.array(fc.nat(50), { minLength: 1 }), (size, steps) => {
        const bucket = new TokenBucket(size);
        let now = 0;
        let allowed = 0;
        for (const step of steps) {
          now += step;
          if (bucket.take(now) !== undefined) allowed++;
          const refills = Math.floor(now / size.intervalMs) * size.refill;
          expect(allowed).toBeLessThanOrEqual(size.burst + refills);
        }
      }),
    );
  });
});
