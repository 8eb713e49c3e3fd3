import type { ListRow } from './list-row.js';

interface Page {
  /** Undefined for the first page. */
  readonly cursor: string | undefined;
  /** Undefined if evicted; the page can be loaded again. */
  readonly rows: readonly ListRow[] | undefined;
  readonly count: number;
  readonly lastKey: string | undefined;
  /** Whether the list did not change at the gateway since the page was loaded. */
  readonly isFresh: boolean;
}

/**
 * A list of any length of which only pages near the visible rows are held. A cursor is a position in the sort order and
 * stays valid when rows are added or removed.
 */
export interface PagedList {
  readonly pages: readonly Page[];
  /** The part after the last page; undefined at the end of the list. */
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

/** Bounds the memory; many times the rows of a screen. */
const MAX_ROWS_HELD = 10_000;

export const EMPTY_LIST: PagedList = { pages: [], rest: { cursor: undefined }, total: undefined };

/** A list with all its rows on one page. */
export const wholeList = (rows: readonly ListRow[]): PagedList => ({
  pages: [pageOf(undefined, rows, true)],
  rest: undefined,
  total: rows.length,
});

/** Number of rows whose positions are known. */
export const knownLength = ({ pages }: PagedList): number => pages.reduce((sum, { count }) => sum + count, 0);

/** Length of the list, or a lower bound if the gateway sends no total. */
export function totalLength(list: PagedList): { readonly rows: number; readonly isLowerBound: boolean } {
  const known = knownLength(list);
  if (!list.rest) return { rows: known, isLowerBound: false };
  return list.total === undefined
    ? { rows: known, isLowerBound: true }
    : { rows: Math.max(known, list.total), isLowerBound: false };
}

export const isLoaded = ({ pages }: PagedList): boolean => pages.length > 0;

/** Undefined if there is no such row or it is not held. */
export function rowAt({ pages }: PagedList, index: number): ListRow | undefined {
  let offset = 0;
  for (const { rows, count } of pages) {
    if (index < offset + count) return rows?.[index - offset];
    offset += count;
  }
  return undefined;
}

/** The next page to load for the rows `from` to `to`; undefined if all are held and fresh. */
export function nextMissingPage(list: PagedList, from: number, to: number): PagePosition | undefined {
  let offset = 0;
  for (const [index, page] of list.pages.entries()) {
    const isInView = offset <= to && (offset + page.count > from || page.count === 0);
    if (isInView && (!page.rows || !page.isFresh)) return { index, cursor: page.cursor };
    offset += page.count;
  }
  return list.rest && to >= offset ? { index: list.pages.length, cursor: list.rest.cursor } : undefined;
}

/** Inserts a loaded page. Later pages are kept if the page ends as before, because they still follow it. */
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

/** After a change at the gateway: pages stay visible until they are loaded again. */
export const markStale = (list: PagedList): PagedList => ({
  ...list,
  pages: list.pages.map((page) => ({ ...page, isFresh: false })),
});

export const heldRows = ({ pages }: PagedList): readonly ListRow[] => pages.flatMap(({ rows = [] }) => rows);

/** Replaces rows that are held. Returns the same list if no row changes. */
export function mapRows(list: PagedList, change: (row: ListRow) => ListRow): PagedList {
  const pages = list.pages.map((page) => {
    const rows = page.rows?.map(change);
    return rows?.some((row, index) => row !== page.rows![index]) ? { ...page, rows } : page;
  });
  return pages.some((page, index) => page !== list.pages[index]) ? { ...list, pages } : list;
}

/** Undefined if the row is not held. */
export function rowIndexOf(list: PagedList, key: string): number | undefined {
  let offset = 0;
  for (const { rows, count } of list.pages) {
    const index = rows?.findIndex((row) => row.key === key) ?? -1;
    if (index !== -1) return offset + index;
    offset += count;
  }
  return undefined;
}

/** Evicts the pages farthest from the page `near` first. */
function evictDistantPages(list: PagedList, near: number): PagedList {
  let excess = list.pages.reduce((sum, { rows = [] }) => sum + rows.length, 0) - MAX_ROWS_HELD;
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
