import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { neverYield } from '../../../test/kit/resource-offers.js';
import { slicedSort } from './sliced-sort.js';
import type { Yield } from './slices.js';

interface Item {
  readonly key: number;
  readonly position: number;
}
const byKey = (a: Item, b: Item): number => a.key - b.key;
const itemsOf = (keys: readonly number[]): Item[] => keys.map((key, position) => ({ key, position }));

/** Few distinct keys, so that many items are equal and an unstable sort shows. */
const keys = fc
  .tuple(fc.array(fc.nat(20), { minLength: 1, maxLength: 40 }), fc.nat(120))
  .map(([some, times]) => Array.from({ length: times }, () => some).flat());

describe('slicedSort', () => {
  it('returns what toSorted returns, equal items in their order, however often it yields', async () => {
    await fc.assert(
      fc.asyncProperty(keys, fc.array(fc.boolean(), { minLength: 1 }), async (given, yields) => {
        const items = itemsOf(given);
        let call = 0;
        const yieldIfDue: Yield = () =>
          yields[call++ % yields.length] ? new Promise((resolve) => setImmediate(resolve)) : undefined;
        expect(await slicedSort(items, byKey, yieldIfDue)).toEqual(items.toSorted(byKey));
      }),
      { numRuns: 30 },
    );
  });

  it.each([0, 1, 1023, 1024, 1025, 2048, 2049, 5000])('sorts %i items', async (length) => {
    const items = itemsOf(Array.from({ length }, (_, n) => (n * 7919) % 1000));
    expect(await slicedSort(items, byKey, neverYield)).toEqual(items.toSorted(byKey));
  });

  it('does not change the given list', async () => {
    const items = itemsOf([3, 1, 2]);
    const before = [...items];
    const sorted = await slicedSort(items, byKey, neverYield);
    expect(items).toEqual(before);
    expect(sorted).not.toBe(items);
  });

  it('calls yieldIfDue many times before it ends', async () => {
    let comparisons = 0;
    let most = 0;
    const yieldIfDue = (): undefined => {
      most = Math.max(most, comparisons);
      comparisons = 0;
    };
    const items = itemsOf(Array.from({ length: 20_000 }, (_, n) => (n * 7919) % 20_000));
    await slicedSort(
      items,
      (a, b) => {
        comparisons++;
        return byKey(a, b);
      },
      yieldIfDue,
    );
    expect(most).toBeLessThan(20_000);
  });
});
