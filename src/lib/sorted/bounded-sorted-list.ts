import { upperBound } from './binary-search.js';

/** The first few by their keys, out of any number that come in any order; holds no more than it needs. */
export class BoundedSortedList<Item> {
  readonly items: Item[] = [];

  constructor(
    private readonly most: number,
    private readonly keyOf: (item: Item) => string,
  ) {}

  add(item: Item): void {
    const { items, most, keyOf } = this;
    const key = keyOf(item);
    const last = items.at(-1);
    if (items.length === most && last !== undefined && key > keyOf(last)) return;
    items.splice(upperBound(items, key, keyOf), 0, item);
    if (items.length > most) items.pop();
  }
}
