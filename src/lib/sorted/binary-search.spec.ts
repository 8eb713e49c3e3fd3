import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { findByKey, indexOfKey, lowerBound, partitionPoint, upperBound } from './binary-search.js';

const keys = fc.array(fc.constantFrom('', 'a', 'aa', 'b', 'B', '😀', '\uFFFF'), { maxLength: 20 });
const sortedItems = (given: readonly string[]) => given.toSorted().map((key) => ({ key }));
const keyOf = ({ key }: { readonly key: string }): string => key;
const orEnd = (index: number, end: number): number => (index === -1 ? end : index);

describe('partitionPoint', () => {
  it('returns the first index of its range at which isBefore is false', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.nat(50), fc.nat(120), (low, length, boundary) => {
        const high = low + length;
        const expected = Math.min(Math.max(boundary, low), high);
        expect(partitionPoint(low, high, (index) => index < boundary)).toBe(expected);
      }),
    );
  });

  it('calls isBefore at most log2(length) times', () => {
    let calls = 0;
    partitionPoint(0, 1_000_000, (index) => {
      calls++;
      return index < 777_777;
    });
    expect(calls).toBeLessThanOrEqual(20);
  });
});

describe('search in sorted items', () => {
  it('finds the same bounds and items as a linear search', () => {
    fc.assert(
      fc.property(keys, fc.constantFrom('', 'a', 'ab', 'b', '😀', '\uFFFF'), (given, key) => {
        const items = sortedItems(given);
        const { length } = items;
        const lower = orEnd(
          items.findIndex((item) => item.key >= key),
          length,
        );
        const upper = orEnd(
          items.findIndex((item) => item.key > key),
          length,
        );
        expect(lowerBound(items, key, keyOf)).toBe(lower);
        expect(upperBound(items, key, keyOf)).toBe(upper);
        expect(indexOfKey(items, key, keyOf)).toBe(lower < upper ? lower : -1);
        expect(findByKey(items, key, keyOf)).toBe(lower < upper ? items[lower] : undefined);
      }),
    );
  });
});
