import { runSliced, type Steps } from './run-sliced.js';
import type { Yield } from './slices.js';

type Compare<Item> = (a: Item, b: Item) => number;

/** Number of items that are sorted without yielding, which takes well under a millisecond. */
const RUN_LENGTH = 1024;
/** Number of items that are merged without yielding. */
const MERGE_LENGTH = 512;

/** Stable merge sort in slices. Does not change `items`. */
export const slicedSort = <Item>(
  items: readonly Item[],
  compare: Compare<Item>,
  yieldIfDue: Yield,
): Promise<Item[]> => runSliced(sortSteps(items, compare), yieldIfDue);

/** `slicedSort` as a job for `runSliced`. */
export function* sortSteps<Item>(items: readonly Item[], compare: Compare<Item>): Steps<Item[]> {
  let runs: Item[][] = [];
  for (let from = 0; from < items.length; from += RUN_LENGTH) {
    if (from > 0) yield;
    runs.push(items.slice(from, from + RUN_LENGTH).toSorted(compare));
  }
  while (runs.length > 1) {
    const merged: Item[][] = [];
    for (let i = 0; i < runs.length; i += 2) {
      const [left, right] = [runs[i]!, runs[i + 1]];
      merged.push(right ? yield* merge(left, right, compare) : left);
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<Item>(left: readonly Item[], right: readonly Item[], compare: Compare<Item>): Steps<Item[]> {
  const merged: Item[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    if (merged.length % MERGE_LENGTH === 0) yield;
    merged.push(compare(left[l]!, right[r]!) <= 0 ? left[l++]! : right[r++]!);
  }
  while (l < left.length) merged.push(left[l++]!);
  while (r < right.length) merged.push(right[r++]!);
  return merged;
}
