interface SortedDifference<Item> {
  readonly removed?: Item | undefined;
  readonly added?: Item | undefined;
}

/**
 * Compares two lists that are sorted by key. Yields each removed and each added item. For an item that is in both lists,
 * yields an empty difference, so that the caller can pause a long comparison.
 */
export function* diffSorted<Item>(
  old: readonly Item[],
  now: readonly Item[],
  keyOf: (item: Item) => string,
): Iterable<SortedDifference<Item>> {
  let oldIndex = 0;
  let newIndex = 0;
  while (oldIndex < old.length || newIndex < now.length) {
    const [before, after] = [old[oldIndex], now[newIndex]];
    if (before && (!after || keyOf(before) < keyOf(after))) {
      yield { removed: before };
      oldIndex++;
    } else if (before && keyOf(before) === keyOf(after!)) {
      yield UNCHANGED;
      oldIndex++;
      newIndex++;
    } else {
      yield { added: after };
      newIndex++;
    }
  }
}

const UNCHANGED = {};
