import type { Resource, ResourceList } from './resource-list.js';
import type { Pause } from './slow-sort.js';

/** What resources can meet in. */
export type Key = 'uri' | 'id';

type Known = WeakMap<ResourceList, WeakMap<ResourceList, ReadonlySet<string>>>;

/** Lists never change, so that two of them are compared once and for all. */
const known: Readonly<Record<Key, Known>> = { uri: new WeakMap(), id: new WeakMap() };

/** Looking up so few takes no noticeable time, however long the other list is. */
const FEW = 2048;
const STEPS_BETWEEN_PAUSES = 512;

/** The URIs, or identifiers, that both lists have. */
export function sharedKeys(a: ResourceList, b: ResourceList, key: Key): ReadonlySet<string> {
  const before = known[key].get(a)?.get(b);
  if (before) return before;
  const shared = new Set<string>();
  Array.from(walkAlong(a, b, key, shared));
  return remember(a, b, key, shared);
}

/** Whether `sharedKeys` can say it without holding anybody up. */
export const isQuickToCompare = (a: ResourceList, b: ResourceList, key: Key): boolean =>
  Math.min(a.size, b.size) <= FEW || (known[key].get(a)?.has(b) ?? false);

/** Finds it out ahead of time. */
export async function compareSlowly(a: ResourceList, b: ResourceList, key: Key, pause: Pause): Promise<void> {
  const shared = new Set<string>();
  const walk = walkAlong(a, b, key, shared);
  while (!walk.next().done) await pause();
  remember(a, b, key, shared);
}

function remember(
  a: ResourceList,
  b: ResourceList,
  key: Key,
  shared: ReadonlySet<string>,
): ReadonlySet<string> {
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const) {
    const others = known[key].get(one) ?? new WeakMap<ResourceList, ReadonlySet<string>>();
    known[key].set(one, others.set(other, shared));
  }
  return shared;
}

/**
 * Both are sorted. Skips by halves over what lies between: lists of different servers seldom overlap, and then it
 * costs nothing. Stops now and then, so that whoever walks can give way.
 */
function* walkAlong(
  a: ResourceList,
  b: ResourceList,
  key: Key,
  shared: Set<string>,
): Iterator<void> & Iterable<void> {
  const [left, right] = key === 'uri' ? [a.byUri, b.byUri] : [a.byId, b.byId];
  let l = 0;
  let r = 0;
  for (let step = 1; l < left.length && r < right.length; step++) {
    if (step % STEPS_BETWEEN_PAUSES === 0) yield;
    const one = left[l]![key];
    const other = right[r]![key];
    if (one === other) {
      shared.add(one);
      l++;
      r++;
    } else if (one < other) l = firstFrom(left, other, key, l);
    else r = firstFrom(right, one, key, r);
  }
}

/** The index of the first, from here on, that is not before the wanted one. */
function firstFrom(sorted: readonly Resource[], wanted: string, key: Key, from: number): number {
  let step = 1;
  while (from + step < sorted.length && sorted[from + step]![key] < wanted) step *= 2;
  let low = from + (step >>> 1);
  let high = Math.min(from + step, sorted.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]![key] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
