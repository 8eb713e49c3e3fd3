import type { ListRow } from './list-row.js';

interface Page {
  /** Undefined for the first page. */
  readonly cursor: string | undefined;
  /** Undefined if the page was evicted from memory. It can be loaded again. */
  readonly rows: readonly ListRow[] | undefined;
  /** Number of rows, also of an evicted page. */
  readonly count: number;
  readonly lastKey: string | undefined;
  /** False if the list has changed at the gateway since the page was loaded. */
  readonly isFresh: boolean;
}

/**
 * A list of any length. Only pages near the visible rows are in memory. A cursor is a position in the sort order, so it
 * stays valid when rows are added or removed.
 */
export interface PagedList {
  /** The pages that were loaded, from the start of the list on. */
  readonly pages: readonly Page[];
  /**
   * The part of the list after `pages`, with the cursor of its first page. Undefined when the end of the list was loaded. The
   * cursor is undefined while `pages` is empty, because the first page of a list has no cursor.
   */
  readonly rest: { readonly cursor: string | undefined } | undefined;
  /** Total number of rows, if the gateway sends it. */
  readonly total: number | undefined;
}

export interface LoadedPage {
  readonly rows: readonly ListRow[];
  readonly nextCursor?: string | undefined;
  readonly total?: number | undefined;
}

export interface PagePosition {
  readonly index: number;
  readonly cursor: string | undefined;
}

/** Limits the use of memory. The limit is many times the number of rows of a screen. */
const MAX_ROWS_IN_MEMORY = 10_000;

export const EMPTY_LIST: PagedList = { pages: [], rest: { cursor: undefined }, total: undefined };

/** A list with all its rows on one page. */
export const wholeList = (rows: readonly ListRow[]): PagedList => ({
  pages: [pageOf(undefined, rows, true)],
  rest: undefined,
  total: rows.length,
});

/** Number of rows on the pages that were loaded, evicted pages included. */
export const knownLength = ({ pages }: PagedList): number => pages.reduce((sum, { count }) => sum + count, 0);

/** Length of the list. Without a total from the gateway, it is a lower bound until the end of the list was loaded. */
export function totalLength(list: PagedList): { readonly rows: number; readonly isLowerBound: boolean } {
  const loadedRows = knownLength(list);
  if (!list.rest) return { rows: loadedRows, isLowerBound: false };
  return list.total === undefined
    ? { rows: loadedRows, isLowerBound: true }
    : { rows: Math.max(loadedRows, list.total), isLowerBound: false };
}

export const isLoaded = ({ pages }: PagedList): boolean => pages.length > 0;

/** The row with this index. Undefined if there is no such row or it is not in memory. */
export function rowAt({ pages }: PagedList, index: number): ListRow | undefined {
  let offset = 0;
  for (const { rows, count } of pages) {
    if (index < offset + count) return rows?.[index - offset];
    offset += count;
  }
  return undefined;
}

/** The next page to load for the rows `from` to `to`. Undefined if all of them are in memory and fresh. */
export function nextMissingPage(list: PagedList, from: number, to: number): PagePosition | undefined {
  let offset = 0;
  for (const [index, page] of list.pages.entries()) {
    // An empty page has no row that could be in view. It always counts as in view, so that it is loaded again when stale.
    const isInView = offset <= to && (offset + page.count > from || page.count === 0);
    if (isInView && (!page.rows || !page.isFresh)) return { index, cursor: page.cursor };
    offset += page.count;
  }
  return list.rest && to >= offset ? { index: list.pages.length, cursor: list.rest.cursor } : undefined;
}

/**
 * Replaces a page by its newly loaded version, or adds a loaded page after the last one. The pages after a replaced page stay
 * if the new version has the same last row and the same length, because they still follow it.
 */
export function withPage(
  list: PagedList,
  { index }: PagePosition,
  loaded: LoadedPage,
  isFresh: boolean,
): PagedList {
  const { rows, nextCursor, total } = loaded;
  const before = list.pages[index];
  const cursor = before ? before.cursor : list.rest?.cursor;
  const page = pageOf(cursor, rows, isFresh);
  const endsAsBefore = before !== undefined && before.lastKey === page.lastKey && before.count === page.count;
  const laterPages = endsAsBefore && nextCursor !== undefined ? list.pages.slice(index + 1) : [];
  const pages = [...list.pages.slice(0, index), page, ...laterPages];
  const rest = nextCursor === undefined ? undefined : { cursor: nextCursor };
  return evictDistantPages({ pages, rest: laterPages.length > 0 ? list.rest : rest, total }, index);
}

/** The list after a change at the gateway. Its pages stay visible until they are loaded again. */
export const markStale = (list: PagedList): PagedList => ({
  ...list,
  pages: list.pages.map((page) => ({ ...page, isFresh: false })),
});

export const rowsInMemory = ({ pages }: PagedList): readonly ListRow[] =>
  pages.flatMap(({ rows = [] }) => rows);

/** Replaces the rows that are in memory. Returns the same list if no row changes. */
export function mapRows(list: PagedList, change: (row: ListRow) => ListRow): PagedList {
  const pages = list.pages.map((page) => {
    const rows = page.rows?.map(change);
    return rows?.some((row, index) => row !== page.rows![index]) ? { ...page, rows } : page;
  });
  return pages.some((page, index) => page !== list.pages[index]) ? { ...list, pages } : list;
}

/** The index of the row with this key. Undefined if the row is not in memory. */
export function rowIndexOf(list: PagedList, key: string): number | undefined {
  let offset = 0;
  for (const { rows, count } of list.pages) {
    const index = rows?.findIndex((row) => row.key === key) ?? -1;
    if (index !== -1) return offset + index;
    offset += count;
  }
  return undefined;
}

/** Evicts pages until the limit is kept. Pages that are farthest from the page `near` are evicted first. */
function evictDistantPages(list: PagedList, near: number): PagedList {
  let excess = list.pages.reduce((sum, { rows = [] }) => sum + rows.length, 0) - MAX_ROWS_IN_MEMORY;
  if (excess <= 0) return list;
  const evicted = new Set<number>();
  const farthestFirst = [...list.pages.keys()].toSorted((a, b) => Math.abs(b - near) - Math.abs(a - near));
  for (const index of farthestFirst) {
    if (excess <= 0) break;
    evicted.add(index);
    excess -= list.pages[index]?.rows?.length ?? 0;
  }
  return {
    ...list,
    pages: list.pages.map((page, index) => (evicted.has(index) ? { ...page, rows: undefined } : page)),
  };
}

const pageOf = (cursor: string | undefined, rows: readonly ListRow[], isFresh: boolean): Page => ({
  cursor,
  rows,
  count: rows.length,
  lastKey: rows.at(-1)?.key,
  isFresh,
});
