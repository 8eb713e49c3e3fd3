import type { Resource, ResourceList } from './resource-list.js';
import { isSameSet } from './same-set.js';
import type { Yield } from '../../lib/slices/slices.js';
import { partitionPoint } from '../../lib/sorted/binary-search.js';

/** What resources can meet in. */
export type Key = 'uri' | 'id';

type Known = WeakMap<ResourceList, WeakMap<ResourceList, ReadonlySet<string>>>;

/** Lists never change, so that two of them are compared once and for all. */
const known: Readonly<Record<Key, Known>> = { uri: new WeakMap(), id: new WeakMap() };

/** What a list last had in common with those of each server, so that what did not change stays the same object. */
const latest: Readonly<Record<Key, WeakMap<ResourceList, Map<string, ReadonlySet<string>>>>> = {
  uri: new WeakMap(),
  id: new WeakMap(),
};

/** Looking up so few takes no noticeable time, however long the other list is. */
const FEW = 2048;
const STEPS_BETWEEN_PAUSES = 512;

/** The URIs, or identifiers, that both lists have. */
export function sharedKeys(a: ResourceList, b: ResourceList, key: Key): ReadonlySet<string> {
  const before = known[key].get(a)?.get(b);
  if (before) return before;
  const shared = new Set<string>();
  Array.from(walkAlong(a, b, key, shared));
  const same = latestOf(a, b, key).find((set) => isSameSet(set, shared));
  return remember(a, b, key, same ?? shared);
}

/** Whether `sharedKeys` can say it without holding anybody up. */
export const isQuickToCompare = (a: ResourceList, b: ResourceList, key: Key): boolean =>
  Math.min(a.size, b.size) <= FEW || (known[key].get(a)?.has(b) ?? false);

/** Finds it out ahead of time. */
export async function compareSlowly(
  a: ResourceList,
  b: ResourceList,
  key: Key,
  yieldIfDue: Yield,
): Promise<void> {
  const shared = new Set<string>();
  const walk = walkAlong(a, b, key, shared);
  while (!walk.next().done) await yieldIfDue();
  for (const before of latestOf(a, b, key))
    if (await isSame(before, shared, yieldIfDue)) return void remember(a, b, key, before);
  remember(a, b, key, shared);
}

async function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>, yieldIfDue: Yield): Promise<boolean> {
  if (a.size !== b.size) return false;
  let step = 0;
  for (const item of a) {
    if (++step % STEPS_BETWEEN_PAUSES === 0) await yieldIfDue();
    if (!b.has(item)) return false;
  }
  return true;
}

const latestOf = (a: ResourceList, b: ResourceList, key: Key): ReadonlySet<string>[] =>
  [latest[key].get(a)?.get(serverOf(b)), latest[key].get(b)?.get(serverOf(a))].filter(
    (set) => set !== undefined,
  );

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
    const byServer = latest[key].get(one) ?? new Map<string, ReadonlySet<string>>();
    latest[key].set(one, byServer.set(serverOf(other), shared));
  }
  return shared;
}

const serverOf = (list: ResourceList): string => list.byUri[0]?.server ?? '';

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
  const end = Math.min(from + step, sorted.length);
  return partitionPoint(from + (step >>> 1), end, (index) => sorted[index]![key] < wanted);
}
