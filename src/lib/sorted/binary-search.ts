/**
 * The first index in the range from `low` (inclusive) to `high` (exclusive) at which `isBefore` is false; `high` if there
 * is none. `isBefore` must not become true again after the first index at which it is false.
 */
export function partitionPoint(low: number, high: number, isBefore: (index: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (isBefore(middle)) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The index of the first item whose key is not less than `key`. Items are sorted by UTF-16 code units of their keys. */
export function lowerBound<Item>(
  sorted: readonly Item[],
  key: string,
  keyOf: (item: Item) => string,
): number {
  return partitionPoint(0, sorted.length, (index) => keyOf(sorted[index]!) < key);
}

/** The index of the first item whose key is greater than `key`. */
export function upperBound<Item>(
  sorted: readonly Item[],
  key: string,
  keyOf: (item: Item) => string,
): number {
  return partitionPoint(0, sorted.length, (index) => keyOf(sorted[index]!) <= key);
}

/** The index of an item with this key, or -1. */
export function indexOfKey<Item>(
  sorted: readonly Item[],
  key: string,
  keyOf: (item: Item) => string,
): number {
  const index = lowerBound(sorted, key, keyOf);
  return index < sorted.length && keyOf(sorted[index]!) === key ? index : -1;
}

/** The item with this key. */
export function findByKey<Item>(
  sorted: readonly Item[],
  key: string,
  keyOf: (item: Item) => string,
): Item | undefined {
  const index = indexOfKey(sorted, key, keyOf);
  return index === -1 ? undefined : sorted[index];
}
