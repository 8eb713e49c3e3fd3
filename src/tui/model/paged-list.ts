import type { ListRow } from './list-row.js';

interface Page {
  /** Where it begins; the first page has no cursor. */
  readonly cursor: string | undefined;
  /** Undefined when they were let go: they can be had again. */
  readonly rows: readonly ListRow[] | undefined;
  readonly count: number;
  readonly lastKey: string | undefined;
  /** Whether nothing changed at the gateway since. */
  readonly isFresh: boolean;
}

/**
 * A list of any length of which we hold what is looked at. The gateway gives it out page by page, each with the cursor
 * of the next; a cursor is a place in the order and stays good when rows come and go.
 */
export interface PagedList {
  readonly pages: readonly Page[];
  /** What comes after the last page; undefined when nothing does. */
  readonly rest: { readonly cursor: string | undefined } | undefined;
  /** As the gateway counts; it need not. */
  readonly total: number | undefined;
}

export interface PageAnswer {
  readonly rows: readonly ListRow[];
  readonly nextCursor?: string | undefined;
  readonly total?: number | undefined;
}

export interface PagePosition {
  readonly index: number;
  readonly cursor: string | undefined;
}

/** Many times what any screen shows. */
const MAX_ROWS_HELD = 10_000;

export const EMPTY_LIST: PagedList = { pages: [], rest: { cursor: undefined }, total: undefined };

/** A list that came whole. */
export const wholeList = (rows: readonly ListRow[]): PagedList => ({
  pages: [pageOf(undefined, rows, true)],
  rest: undefined,
  total: rows.length,
});

/** How many rows can be walked to. */
export const knownLength = ({ pages }: PagedList): number => pages.reduce((sum, { count }) => sum + count, 0);

/** How many there are; a list that does not count and goes on has at least as many. */
export function totalLength(list: PagedList): { readonly rows: number; readonly isLeast: boolean } {
  const known = knownLength(list);
  if (!list.rest) return { rows: known, isLeast: false };
  return list.total === undefined
    ? { rows: known, isLeast: true }
    : { rows: Math.max(known, list.total), isLeast: false };
}

export const isLoaded = ({ pages }: PagedList): boolean => pages.length > 0;

/** Undefined where there is no row, or none that we hold. */
export function rowAt({ pages }: PagedList, index: number): ListRow | undefined {
  let before = 0;
  for (const { rows, count } of pages) {
    if (index < before + count) return rows?.[index - before];
    before += count;
  }
  return undefined;
}

/** The next page to ask for so that these rows are at hand and as they are now; undefined when they are. */
export function nextMissingPage(list: PagedList, from: number, to: number): PagePosition | undefined {
  let before = 0;
  for (const [index, page] of list.pages.entries()) {
    const isInView = before <= to && (before + page.count > from || page.count === 0);
    if (isInView && (!page.rows || !page.isFresh)) return { index, cursor: page.cursor };
    before += page.count;
  }
  return list.rest && to >= before ? { index: list.pages.length, cursor: list.rest.cursor } : undefined;
}

/** Puts a page in its place. Pages behind it stay if it still ends where it did, for then they still follow. */
export function withPage(
  list: PagedList,
  { index }: PagePosition,
  answer: PageAnswer,
  isFresh: boolean,
): PagedList {
  const { rows, nextCursor, total } = answer;
  const before = list.pages[index];
  const cursor = before ? before.cursor : list.rest?.cursor;
  const page = pageOf(cursor, rows, isFresh);
  const endsAsBefore = before !== undefined && before.lastKey === page.lastKey && before.count === page.count;
  const behind = endsAsBefore && nextCursor !== undefined ? list.pages.slice(index + 1) : [];
  const pages = [...list.pages.slice(0, index), page, ...behind];
  const rest = nextCursor === undefined ? undefined : { cursor: nextCursor };
  return evictDistantPages({ pages, rest: behind.length > 0 ? list.rest : rest, total }, index);
}

/** Something changed at the gateway: what we hold is shown until it has been asked for again. */
export const markStale = (list: PagedList): PagedList => ({
  ...list,
  pages: list.pages.map((page) => ({ ...page, isFresh: false })),
});

/** The place of a row near where it was; undefined when we do not hold it. */
export function indexOfKey(list: PagedList, key: string): number | undefined {
  let before = 0;
  for (const { rows, count } of list.pages) {
    const at = rows?.findIndex((row) => row.key === key) ?? -1;
    if (at !== -1) return before + at;
    before += count;
  }
  return undefined;
}

/** The pages farthest from the one that was asked for go first. */
function evictDistantPages(list: PagedList, near: number): PagedList {
  let excess = list.pages.reduce((sum, { rows = [] }) => sum + rows.length, 0) - MAX_ROWS_HELD;
  if (excess <= 0) return list;
  const gone = new Set<number>();
  const far = [...list.pages.keys()].toSorted((a, b) => Math.abs(b - near) - Math.abs(a - near));
  for (const index of far) {
    if (excess <= 0) break;
    gone.add(index);
    excess -= list.pages[index]?.rows?.length ?? 0;
  }
  return {
    ...list,
    pages: list.pages.map((page, index) => (gone.has(index) ? { ...page, rows: undefined } : page)),
  };
}

const pageOf = (cursor: string | undefined, rows: readonly ListRow[], isFresh: boolean): Page => ({
  cursor,
  rows,
  count: rows.length,
  lastKey: rows.at(-1)?.key,
  isFresh,
});
