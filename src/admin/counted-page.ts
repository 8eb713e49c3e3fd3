import type { ListRequest } from './list-requests.js';

export interface CountedPage<Item> {
  readonly items: Item[];
  readonly nextCursor?: string;
  /** Number of items on all pages. */
  readonly total: number;
}

export interface Matches<Entry> {
  /** The entries of one page, in order. If there is a next page, its first entry follows. */
  readonly entries: readonly Entry[];
  /** Number of matches on all pages. */
  readonly total: number;
}

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
