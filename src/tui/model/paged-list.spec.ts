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

/** A page as the gateway sends it. The cursor is the last key of the previous page. */
function pageAfter(all: readonly ListRow[], cursor: string | undefined, limit: number) {
  const following = all.filter(({ key }) => cursor === undefined || key > cursor);
  const rows = following.slice(0, limit);
  return { rows, total: all.length, nextCursor: following.length > limit ? rows.at(-1)!.key : undefined };
}

/** Loads pages until all rows in view are held; returns the list and the number of requests. */
function loadRows(
  list: PagedList,
  all: readonly ListRow[],
  from: number,
  to: number,
  limit = 10,
): [PagedList, number] {
  let next = list;
  let requests = 0;
  for (let position = nextMissingPage(next, from, to); position; position = nextMissingPage(next, from, to)) {
    next = withPage(next, position, pageAfter(all, position.cursor, limit), true);
    if (++requests > 1000) throw new Error('pages are requested without end');
  }
  return [next, requests];
}

const keysIn = (list: PagedList, from: number, to: number): (string | undefined)[] =>
  Array.from({ length: to - from + 1 }, (_, at) => rowAt(list, from + at)?.key);

describe('paged list', () => {
  const all = entries(95);

  it('loads only pages in view', () => {
    const [list, requests] = loadRows(EMPTY_LIST, all, 0, 14);
    expect(requests).toBe(2);
    expect(knownLength(list)).toBe(20);
    expect(totalLength(list)).toEqual({ rows: 95, isLowerBound: false });
  });

  it('gives a lower bound of its length without a total', () => {
    const position = nextMissingPage(EMPTY_LIST, 0, 5)!;
    const list = withPage(EMPTY_LIST, position, { rows: all.slice(0, 10), nextCursor: 'x' }, true);
    expect(totalLength(list)).toEqual({ rows: 10, isLowerBound: true });
  });

  it('reloads only pages in view after a change', () => {
    const [whole] = loadRows(EMPTY_LIST, all, 0, 94);
    const [, requests] = loadRows(markStale(whole), all, 30, 39);
    expect(requests).toBe(1);
  });

  it('keeps later pages if a reloaded page has the same end', () => {
    const [whole] = loadRows(EMPTY_LIST, all, 0, 94);
    const [list] = loadRows(markStale(whole), all, 0, 5);
    expect(knownLength(list)).toBe(95);
  });

  it('evicts distant pages and loads them again when they come into view', () => {
    const many = entries(15_000);
    let list = EMPTY_LIST;
    for (let from = 0; from < many.length; from += 1000) [list] = loadRows(list, many, from, from + 40, 1000);
    expect(rowAt(list, 0)).toBeUndefined();
    expect(knownLength(list)).toBe(15_000);
    const [reloaded, requests] = loadRows(list, many, 0, 5, 1000);
    expect([rowAt(reloaded, 0)?.key, requests]).toEqual([many[0]!.key, 1]);
  });

  it('finds the index of a row by its key', () => {
    const [list] = loadRows(EMPTY_LIST, all, 0, 94);
    expect(rowIndexOf(list, all[42]!.key)).toBe(42);
    expect(rowIndexOf(list, 'missing')).toBeUndefined();
  });

  it('shows the rows of the gateway after any changes and at any position', () => {
    const step = fc.record({
      removed: fc.array(fc.nat(199), { maxLength: 30 }),
      from: fc.nat(180),
      limit: fc.integer({ min: 1, max: 40 }),
    });
    const every = entries(200);
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
        let list = EMPTY_LIST;
        for (const { removed, from, limit } of steps) {
          const now = every.filter((_, at) => !removed.includes(at));
          // Loads from the top, so that positions are known.
          [list] = loadRows(markStale(list), now, 0, from + 20, limit);
          [list] = loadRows(list, now, from, from + 20, limit);
          const expected = Array.from({ length: 21 }, (_, at) => now[from + at]?.key);
          expect(keysIn(list, from, from + 20)).toEqual(expected);
        }
      }),
    );
  });
});
