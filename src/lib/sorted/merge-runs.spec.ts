import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { mergeRuns } from './merge-runs.js';

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const sorted = fc.array(fc.string({ minLength: 1, maxLength: 3 })).map((keys) => keys.toSorted(compare));

describe('mergeRuns', () => {
  it('yields the items of all runs after a key, in order', () => {
    fc.assert(
      fc.property(fc.array(sorted), fc.string({ maxLength: 3 }), (given, after) => {
        const runs = given.map((items) => ({ items, keyOf: (item: string) => item }));
        const expected = given.flat().filter((key) => after === '' || key > after);
        expect([...mergeRuns(runs, after)]).toEqual(expected.toSorted(compare));
      }),
    );
  });

  it('reads only the items that the caller consumes', () => {
    let reads = 0;
    const items = Array.from({ length: 1000 }, (_, n) => String(n).padStart(4, '0'));
    const keyOf = (item: string): string => {
      reads++;
      return item;
    };
    const [first] = mergeRuns([{ items, keyOf }], '0500');
    expect(first).toBe('0501');
    expect(reads).toBeLessThan(20);
  });
});
