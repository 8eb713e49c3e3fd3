import type { ListRequest } from './list-requests.js';

/** A page of a list whose length is known. */
export interface CountedPage<Item> {
  readonly items: Item[];
  readonly nextCursor?: string;
  /** Number of items on all pages. */
  readonly total: number;
}

/** The entries that a query matches, reduced to one page. */
export interface Matches<Entry> {
  /** The entries of one page, in order, and then the first entry of the next page if there is one. */
  readonly entries: readonly Entry[];
  /** Number of matches on all pages. */
  readonly total: number;
}

/** Converts the entries of a page to items. Adds the cursor of the next page if there is one. */
export function pageOf<Entry, Item>(
  { entries, total }: Matches<Entry>,
  { limit, cursorAfter }: ListRequest,
  keyOf: (entry: Entry) => string,
  itemOf: (entry: Entry) => Item,
): CountedPage<Item> {
  const shown = entries.slice(0, limit);
  const more = entries.length > limit ? { nextCursor: cursorAfter(keyOf(shown.at(-1)!)) } : {};
  return { items: shown.map(itemOf), ...more, total };
}
