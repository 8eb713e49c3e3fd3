/** Gives way to others when a slice of work has taken long enough; undefined when there is time left. */
export type Pause = () => Promise<void> | undefined;

/** Work that gives way, not begun yet. */
export type SlowWork = () => Promise<void>;

/** Sorted at once: so few take no noticeable time. */
const RUN = 1024;

/** A stable sort that gives way while it works, so that a long list holds nobody up. */
export async function slowSort<Item>(
  items: readonly Item[],
  compare: (a: Item, b: Item) => number,
  pause: Pause,
): Promise<Item[]> {
  const runs: Item[][] = [];
  for (let from = 0; from < items.length; from += RUN) {
    runs.push(items.slice(from, from + RUN).toSorted(compare));
    await pause();
  }
  return mergeAll(runs, compare, pause);
}

async function mergeAll<Item>(
  runs: Item[][],
  compare: (a: Item, b: Item) => number,
  pause: Pause,
): Promise<Item[]> {
  let round = runs;
  while (round.length > 1) {
    const next: Item[][] = [];
    for (let i = 0; i < round.length; i += 2)
      next.push(i + 1 < round.length ? await merge(round[i]!, round[i + 1]!, compare, pause) : round[i]!);
    round = next;
  }
  return round[0] ?? [];
}

async function merge<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (a: Item, b: Item) => number,
  pause: Pause,
): Promise<Item[]> {
  const merged: Item[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    if ((merged.length & 511) === 0) await pause();
    merged.push(compare(left[l]!, right[r]!) <= 0 ? left[l++]! : right[r++]!);
  }
  while (l < left.length) merged.push(left[l++]!);
  while (r < right.length) merged.push(right[r++]!);
  return merged;
}
