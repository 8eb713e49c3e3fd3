import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { Backoff } from './backoff.js';

const LIMITS = { firstMs: 500, maxMs: 30_000 };

describe('Backoff', () => {
  it('doubles the longest delay with each retry up to the maximum', () => {
    const backoff = new Backoff(LIMITS, () => 1);
    const delays = Array.from({ length: 9 }, () => backoff.next());
    expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('starts again after a reset', () => {
    const backoff = new Backoff(LIMITS, () => 1);
    backoff.next();
    backoff.next();
    backoff.reset();
    expect(backoff.next()).toBe(500);
  });

  it('returns a delay between half of the longest and the longest after any number of retries', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (retries, chance) => {
          const backoff = new Backoff(LIMITS, () => chance);
          for (let n = 0; n < retries; n++) backoff.next();
          const longest = Math.min(30_000, 500 * 2 ** retries);
          const delay = backoff.next();
          expect(delay).toBeGreaterThanOrEqual(longest / 2);
          expect(delay).toBeLessThanOrEqual(longest);
        },
      ),
    );
  });
});
