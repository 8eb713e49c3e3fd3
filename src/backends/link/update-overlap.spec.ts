import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { UpdateOverlap } from './update-overlap.js';

const OLD = 1;
const NEW = 2;
const passed = (ids: readonly number[]): boolean[] => {
  const overlap = new UpdateOverlap([OLD]);
  return ids.map((id) => overlap.passes('a:1', id));
};

describe('UpdateOverlap', () => {
  it.each([
    ['an update on both', [OLD, NEW], [true, false]],
    ['an update on both, first on the new one', [NEW, OLD], [true, false]],
    ['an update before the new stream, and one on both', [OLD, NEW, OLD], [true, false, true]],
    ['two updates on the new stream first', [NEW, NEW, OLD, OLD], [true, true, false, false]],
  ])('passes %s once', (_, ids, expected) => {
    expect(passed(ids)).toEqual(expected);
  });

  it('counts each URI by itself', () => {
    const overlap = new UpdateOverlap([OLD]);
    expect(overlap.passes('a:1', OLD)).toBe(true);
    expect(overlap.passes('a:2', NEW)).toBe(true);
  });

  it('passes every update once in any order of arrival', () => {
    const updates = fc.record({
      onlyOld: fc.nat(5),
      onBoth: fc.nat(5),
      order: fc.infiniteStream(fc.boolean()),
    });
    fc.assert(
      fc.property(updates, ({ onlyOld, onBoth, order }) => {
        const overlap = new UpdateOverlap([OLD]);
        const left = { [OLD]: onlyOld + onBoth, [NEW]: onBoth };
        let passes = 0;
        while (left[OLD] + left[NEW] > 0) {
          const prefersOld = order.next().value as boolean;
          const id = left[OLD] > 0 && (prefersOld || left[NEW] === 0) ? OLD : NEW;
          left[id]--;
          if (overlap.passes('a:1', id)) passes++;
        }
        expect(passes).toBe(onlyOld + onBoth);
      }),
    );
  });
});
