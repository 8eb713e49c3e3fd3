import type { Resource, ResourceList } from './resource-list.js';

/** For each list, the URIs that another one has too. */
export function contestedUris(lists: readonly ResourceList[]): readonly ReadonlySet<string>[] {
  const contested = lists.map(() => new Set<string>());
  for (let a = 0; a < lists.length; a++)
    for (let b = a + 1; b < lists.length; b++)
      for (const uri of shared(lists[a]!.byUri, lists[b]!.byUri)) {
        contested[a]!.add(uri);
        contested[b]!.add(uri);
      }
  return contested;
}

/** Skips by halves over what lies between: lists of different servers seldom overlap, and then it costs nothing. */
function* shared(left: readonly Resource[], right: readonly Resource[]): Iterable<string> {
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    const a = left[l]!.uri;
    const b = right[r]!.uri;
    if (a === b) {
      yield a;
      l++;
      r++;
    } else if (a < b) l = firstFrom(left, b, l);
    else r = firstFrom(right, a, r);
  }
}

/** The index of the first, from here on, that is not before the wanted one. */
function firstFrom(sorted: readonly Resource[], wanted: string, from: number): number {
  let step = 1;
  while (from + step < sorted.length && sorted[from + step]!.uri < wanted) step *= 2;
  let low = from + (step >>> 1);
  let high = Math.min(from + step, sorted.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]!.uri < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
