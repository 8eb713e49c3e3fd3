import type { ListRequest } from './list-requests.js';

export interface CountedPage<Item> {
  readonly items: Item[];
  readonly nextCursor?: string;
  /** Items on all pages. */
  readonly total: number;
}

/** One page of matches in order, plus one entry if there is a next page, and the number of all matches. */
export interface Matches<Entry> {
  readonly entries: readonly Entry[];
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
