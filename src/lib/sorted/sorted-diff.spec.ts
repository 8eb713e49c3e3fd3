import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { diffSorted } from './sorted-diff.js';

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const sorted = fc
  .uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'))
  .map((keys) => keys.toSorted(compare));

describe('diffSorted', () => {
  it('yields the items that are in only one list, and an empty difference for every other item', () => {
    fc.assert(
      fc.property(sorted, sorted, (old, now) => {
        const steps = [...diffSorted(old, now, (item) => item)];
        expect(steps.flatMap(({ removed }) => removed ?? [])).toEqual(
          old.filter((key) => !now.includes(key)),
        );
        expect(steps.flatMap(({ added }) => added ?? [])).toEqual(now.filter((key) => !old.includes(key)));
        expect(steps).toHaveLength(new Set([...old, ...now]).size);
      }),
    );
  });
});
