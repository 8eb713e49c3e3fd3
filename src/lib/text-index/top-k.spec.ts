import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { TopK } from './top-k.js';

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

describe('TopK', () => {
  it('returns the first items of the sorted list', () => {
    const offers = fc.uniqueArray(fc.record({ item: fc.string(), score: fc.nat(5) }), {
      selector: (o) => o.item,
    });
    fc.assert(
      fc.property(offers, fc.nat(10), (offered, limit) => {
        const best = new TopK(limit, byName);
        for (const { item, score } of offered) best.offer(item, score);
        const expected = offered.toSorted((a, b) => b.score - a.score || byName(a.item, b.item));
        expect(best.take()).toEqual(expected.slice(0, limit));
      }),
    );
  });

  it('returns the lowest accepted score as minScore', () => {
    const best = new TopK(2, byName);
    expect(best.minScore).toBe(-Infinity);
    best.offer('a', 3);
    best.offer('b', 5);
    expect(best.minScore).toBe(3);
    expect(new TopK(0, byName).minScore).toBe(Infinity);
  });
});
