import { FairQueue, type QueueEntry } from './fair-queue.js';
import { LinkedList, ListPlace } from './linked-list.js';
import { SizeRanking } from './size-ranking.js';

/** Whether a group may be served now. `next` is the item of the group that would be served. */
export type IsReady<T> = (group: string, next: T) => boolean;

/**
 * A fair queue with two levels: it serves the groups round-robin, and within a group the keys round-robin. Also finds the
 * group with the most items. Every operation takes constant time, except that `peek` and `shift` visit each group that is
 * not ready and comes before the first ready one.
 */
export class GroupedFairQueue<T> {
  private readonly groups = new Map<string, Group<T>>();
  /** The groups in the order in which they are served. An empty group is removed. */
  private readonly rotation = new LinkedList<Group<T>>();
  private readonly ranking = new SizeRanking<Group<T>>();
  /** Number of items of all groups together. */
  size = 0;

  /** The groups that have items. */
  get groupKeys(): Iterable<string> {
    return this.groups.keys();
  }

  sizeOf(group: string): number {
    return this.groups.get(group)?.items.size ?? 0;
  }

  push(groupKey: string, key: string, item: T): GroupedEntry<T> {
    const group = this.groups.get(groupKey) ?? this.addGroup(groupKey);
    const entry = new GroupedEntry(item, group);
    entry.inGroup = group.items.push(key, entry);
    group.arrivals.append(entry.arrival);
    this.size++;
    this.ranking.resized(group, group.items.size - 1, group.items.size);
    return entry;
  }

  /** The item that `shift` would remove and return. */
  peek(isReady: IsReady<T>): T | undefined {
    return this.firstReady(isReady)?.items.peek()?.item;
  }

  /** Removes and returns the next item of the first group that is ready. */
  shift(isReady: IsReady<T>): T | undefined {
    const group = this.firstReady(isReady);
    const entry = group?.items.shift();
    if (!group || !entry) return undefined;
    this.rotation.unlink(group.rotationPlace);
    this.rotation.append(group.rotationPlace);
    this.afterRemoval(entry, group);
    return entry.item;
  }

  /** Removes an item. Returns false if the item has left the queue already. */
  remove(entry: GroupedEntry<T>): boolean {
    const { group } = entry;
    if (!group || this.groups.get(group.key) !== group) return false;
    group.items.remove(entry.inGroup!);
    this.afterRemoval(entry, group);
    return true;
  }

  /** The item that was pushed last in the largest group, and the size of that group. */
  newestOfLargest(): { readonly item: T; readonly groupSize: number } | undefined {
    const newest = this.ranking.largest?.arrivals.last;
    return newest && { item: newest.value.item, groupSize: this.ranking.largestSize };
  }

  /** All items, group by group. The current item may be removed during the iteration. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    for (const group of this.rotation) {
      for (const entry of group.items) yield entry.item;
    }
  }

  private firstReady(isReady: IsReady<T>): Group<T> | undefined {
    let place = this.rotation.first;
    while (place && !isReady(place.value.key, place.value.items.peek()!.item)) place = place.next;
    return place?.value;
  }

  private addGroup(key: string): Group<T> {
    const group = new Group<T>(key);
    this.groups.set(key, group);
    this.rotation.append(group.rotationPlace);
    return group;
  }

  /** Updates the queue after an item has left `group.items`. */
  private afterRemoval(entry: GroupedEntry<T>, group: Group<T>): void {
    group.arrivals.unlink(entry.arrival);
    entry.group = undefined;
    this.size--;
    this.ranking.resized(group, group.items.size + 1, group.items.size);
    if (group.items.size > 0) return;
    this.rotation.unlink(group.rotationPlace);
    this.groups.delete(group.key);
  }
}

class Group<T> {
  readonly items = new FairQueue<GroupedEntry<T>>();
  /** The entries in the order in which they were pushed. */
  readonly arrivals = new LinkedList<GroupedEntry<T>>();
  readonly rotationPlace = new ListPlace<Group<T>>(this);

  constructor(readonly key: string) {}
}

/** An item in the queue: the result of `push` and the argument of `remove`. */
export class GroupedEntry<T> {
  readonly arrival = new ListPlace<GroupedEntry<T>>(this);
  /** The entry in `group.items`. */
  inGroup: QueueEntry<GroupedEntry<T>> | undefined;

  constructor(
    readonly item: T,
    /** Undefined when the item has left the queue. */
    public group: Group<T> | undefined,
  ) {}
}
