interface SortedDifference<Item> {
  readonly removed?: Item | undefined;
  readonly added?: Item | undefined;
}

/**
 * Compares two lists that are sorted by key. Yields an empty difference for an item that is in both lists, so that the
 * caller can interrupt a long comparison.
 */
export function* diffSorted<Item>(
  old: readonly Item[],
  now: readonly Item[],
  keyOf: (item: Item) => string,
): Iterable<SortedDifference<Item>> {
  let o = 0;
  let n = 0;
  while (o < old.length || n < now.length) {
    const [before, after] = [old[o], now[n]];
    if (before && (!after || keyOf(before) < keyOf(after))) {
      yield { removed: before };
      o++;
    } else if (before && keyOf(before) === keyOf(after!)) {
      yield UNCHANGED;
      o++;
      n++;
    } else {
      yield { added: after };
      n++;
    }
  }
}

const UNCHANGED = {};
