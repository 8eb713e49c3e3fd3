import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { unhurried } from '../../../test/kit/resource-offers.js';
import { slowSort, type Pause } from './sliced-sort.js';

interface Card {
  readonly key: number;
  readonly place: number;
}
const byKey = (a: Card, b: Card): number => a.key - b.key;
const cards = (keys: readonly number[]): Card[] => keys.map((key, place) => ({ key, place }));

/** Few keys, so that many are equal and it shows whether they keep their order. */
const keys = fc
  .tuple(fc.array(fc.nat(20), { minLength: 1, maxLength: 40 }), fc.nat(120))
  .map(([some, times]) => Array.from({ length: times }, () => some).flat());

describe('slowSort', () => {
  it('sorts like toSorted, equal ones in their order, however often it gives way', async () => {
    await fc.assert(
      fc.asyncProperty(keys, fc.array(fc.boolean(), { minLength: 1 }), async (given, yields) => {
        const items = cards(given);
        let turn = 0;
        const pause: Pause = () =>
          yields[turn++ % yields.length] ? new Promise((resolve) => setImmediate(resolve)) : undefined;
        expect(await slowSort(items, byKey, pause)).toEqual(items.toSorted(byKey));
      }),
      { numRuns: 30 },
    );
  });

  it.each([0, 1, 1023, 1024, 1025, 2048, 2049, 5000])('sorts %i items', async (length) => {
    const items = cards(Array.from({ length }, (_, n) => (n * 7919) % 1000));
    expect(await slowSort(items, byKey, unhurried)).toEqual(items.toSorted(byKey));
  });

  it('leaves the given list as it was', async () => {
    const items = cards([3, 1, 2]);
    const before = [...items];
    const sorted = await slowSort(items, byKey, unhurried);
    expect(items).toEqual(before);
    expect(sorted).not.toBe(items);
  });

  it('asks whether to give way many times before it is done', async () => {
    let comparisons = 0;
    let most = 0;
    const pause = (): undefined => {
      most = Math.max(most, comparisons);
      comparisons = 0;
    };
    const items = cards(Array.from({ length: 20_000 }, (_, n) => (n * 7919) % 20_000));
    await slowSort(
      items,
      (a, b) => {
        comparisons++;
        return byKey(a, b);
      },
      pause,
    );
    expect(most).toBeLessThan(20_000);
  });
});
