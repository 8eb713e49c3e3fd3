import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { BoundedSortedList } from './bounded-sorted-list.js';

describe('BoundedSortedList', () => {
  it('keeps the items with the smallest keys, sorted, and never more than its limit', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), fc.integer({ min: 1, max: 8 }), (keys, most) => {
        const few = new BoundedSortedList<{ key: string }>(most, ({ key }) => key);
        for (const key of keys) {
          few.add({ key });
          expect(few.items.length).toBeLessThanOrEqual(most);
        }
        const sorted = keys.toSorted((a, b) => (a < b ? -1 : 1));
        expect(few.items.map(({ key }) => key)).toEqual(sorted.slice(0, most));
      }),
    );
  });
});
