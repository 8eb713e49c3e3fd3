import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { resource } from '../../../test/kit/tui-model.js';
import { listRow, type ListRow } from './list-row.js';
import {
  EMPTY_LIST,
  rowIndexOf,
  knownLength,
  totalLength,
  markStale,
  rowAt,
  nextMissingPage,
  withPage,
  type PagedList,
} from './paged-list.js';

const entries = (count: number): ListRow[] =>
  Array.from({ length: count }, (_, at) => listRow('resources', resource(String(at).padStart(6, '0'))));

/** A page of the gateway: the cursor is the last key of the page before. */
function answer(all: readonly ListRow[], cursor: string | undefined, limit: number) {
  const behind = all.filter(({ key }) => cursor === undefined || key > cursor);
  const rows = behind.slice(0, limit);
  return { rows, total: all.length, nextCursor: behind.length > limit ? rows.at(-1)!.key : undefined };
}

/** Loads pages until all rows in view are held; returns the list and the number of requests. */
function viewed(
  list: PagedList,
  all: readonly ListRow[],
  from: number,
  to: number,
  limit = 10,
): [PagedList, number] {
  let next = list;
  let asked = 0;
  for (let wanted = nextMissingPage(next, from, to); wanted; wanted = nextMissingPage(next, from, to)) {
    next = withPage(next, wanted, answer(all, wanted.cursor, limit), true);
    if (++asked > 1000) throw new Error('pages are requested without end');
  }
  return [next, asked];
}

const keysIn = (list: PagedList, from: number, to: number): (string | undefined)[] =>
  Array.from({ length: to - from + 1 }, (_, at) => rowAt(list, from + at)?.key);

describe('paged list', () => {
  const all = entries(95);

  it('loads only pages in view', () => {
    const [list, asked] = viewed(EMPTY_LIST, all, 0, 14);
    expect(asked).toBe(2);
    expect(knownLength(list)).toBe(20);
    expect(totalLength(list)).toEqual({ rows: 95, isLeast: false });
  });

  it('gives a lower bound of its length without a total', () => {
    const wanted = nextMissingPage(EMPTY_LIST, 0, 5)!;
    const list = withPage(EMPTY_LIST, wanted, { rows: all.slice(0, 10), nextCursor: 'x' }, true);
    expect(totalLength(list)).toEqual({ rows: 10, isLeast: true });
  });

  it('reloads only pages in view after a change', () => {
    const [whole] = viewed(EMPTY_LIST, all, 0, 94);
    const [, asked] = viewed(markStale(whole), all, 30, 39);
    expect(asked).toBe(1);
  });

  it('keeps later pages if a reloaded page has the same end', () => {
    const [whole] = viewed(EMPTY_LIST, all, 0, 94);
    const [list] = viewed(markStale(whole), all, 0, 5);
    expect(knownLength(list)).toBe(95);
  });

  it('evicts distant pages and loads them again when they come into view', () => {
    const many = entries(15_000);
    let list = EMPTY_LIST;
    for (let from = 0; from < many.length; from += 1000) [list] = viewed(list, many, from, from + 40, 1000);
    expect(rowAt(list, 0)).toBeUndefined();
    expect(knownLength(list)).toBe(15_000);
    const [back, asked] = viewed(list, many, 0, 5, 1000);
    expect([rowAt(back, 0)?.key, asked]).toEqual([many[0]!.key, 1]);
  });

  it('finds the index of a row by its key', () => {
    const [list] = viewed(EMPTY_LIST, all, 0, 94);
    expect(rowIndexOf(list, all[42]!.key)).toBe(42);
    expect(rowIndexOf(list, 'missing')).toBeUndefined();
  });

  it('shows the rows of the gateway after any changes and at any position', () => {
    const step = fc.record({
      gone: fc.array(fc.nat(199), { maxLength: 30 }),
      from: fc.nat(180),
      limit: fc.integer({ min: 1, max: 40 }),
    });
    const every = entries(200);
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
        let list = EMPTY_LIST;
        for (const { gone, from, limit } of steps) {
          const now = every.filter((_, at) => !gone.includes(at));
          // Loads from the top, so that positions are known.
          [list] = viewed(markStale(list), now, 0, from + 20, limit);
          [list] = viewed(list, now, from, from + 20, limit);
          const expected = Array.from({ length: 21 }, (_, at) => now[from + at]?.key);
          expect(keysIn(list, from, from + 20)).toEqual(expected);
        }
      }),
    );
  });
});
