import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { BoundedSortedList } from './bounded-sorted-list.js';

describe('BoundedSortedList', () => {
  it('keeps the items with the smallest keys, sorted, and never more than its limit', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), fc.integer({ min: 1, max: 8 }), (keys, limit) => {
        const list = new BoundedSortedList<{ key: string }>(limit, ({ key }) => key);
        for (const key of keys) {
          list.add({ key });
          expect(list.items.length).toBeLessThanOrEqual(limit);
        }
        const sorted = keys.toSorted((a, b) => (a < b ? -1 : 1));
        expect(list.items.map(({ key }) => key)).toEqual(sorted.slice(0, limit));
      }),
    );
  });
});
