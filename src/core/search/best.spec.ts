import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { Best } from './best.js';

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const hasNoA = (item: string): boolean => !item.includes('a');
const all = (): boolean => true;

describe('Best', () => {
  it('is the start of the sorted list of those that pass the filter', () => {
    const offers = fc.uniqueArray(fc.record({ item: fc.string(), score: fc.nat(5) }), {
      selector: (o) => o.item,
    });
    fc.assert(
      fc.property(offers, fc.nat(10), (offered, limit) => {
        const best = new Best(limit, byName, hasNoA);
        for (const { item, score } of offered) best.offer(item, score);
        const expected = offered
          .filter(({ item }) => hasNoA(item))
          .toSorted((a, b) => b.score - a.score || byName(a.item, b.item));
        expect(best.take()).toEqual(expected.slice(0, limit));
      }),
    );
  });

  it('does not ask the filter about what would not be among the best', () => {
    const asked: string[] = [];
    const best = new Best(1, byName, (item: string) => asked.push(item) > 0);
    best.offer('b', 2);
    best.offer('worse', 1);
    best.offer('c, which ties', 2);
    best.offer('a, which ties', 2);
    expect(asked).toEqual(['b', 'a, which ties']);
  });

  it('says below which score nothing has a chance', () => {
    const best = new Best(2, byName, all);
    expect(best.leastScore).toBe(-Infinity);
    best.offer('a', 3);
    best.offer('b', 5);
    expect(best.leastScore).toBe(3);
    expect(new Best(0, byName, all).leastScore).toBe(Infinity);
  });
});
