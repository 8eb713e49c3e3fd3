import { upperBound } from './binary-search.js';

/** Keeps the `limit` items with the smallest keys, sorted by key. Adding an item costs O(limit) at most. */
export class BoundedSortedList<Item> {
  readonly items: Item[] = [];

  constructor(
    private readonly limit: number,
    private readonly keyOf: (item: Item) => string,
  ) {}

  add(item: Item): void {
    const { items, limit, keyOf } = this;
    const key = keyOf(item);
    const last = items.at(-1);
    if (items.length === limit && last !== undefined && key > keyOf(last)) return;
    items.splice(upperBound(items, key, keyOf), 0, item);
    if (items.length > limit) items.pop();
  }
}
