import { LinkedList, ListPlace } from './linked-list.js';

/**
 * A queue that serves keys round-robin, and the items of one key in the order in which they were pushed. The first item of
 * a key waits for at most one item of each other key, however many items the other keys have. Every operation takes
 * constant time.
 */
export class FairQueue<T> {
  private readonly lanes = new Map<string, Lane<T>>();
  /** The lanes that have items, in the order in which they are served. */
  private readonly rotation = new LinkedList<Lane<T>>();
  /** Number of items of all keys together. */
  size = 0;

  push(key: string, item: T): QueueEntry<T> {
    const lane = this.lanes.get(key) ?? this.addLane(key);
    const entry = new QueueEntry(item, lane);
    lane.entries.append(entry.place);
    this.size++;
    return entry;
  }

  /** The item that `shift` would return. `push` does not change it unless the queue is empty. */
  peek(): T | undefined {
    return this.rotation.first?.value.entries.first?.value.item;
  }

  shift(): T | undefined {
    const lane = this.rotation.first?.value;
    const entry = lane?.entries.first?.value;
    if (!lane || !entry) return undefined;
    this.rotation.unlink(lane.place);
    this.rotation.append(lane.place);
    this.unlink(entry, lane);
    return entry.item;
  }

  /** Removes an item. Returns false if the item has left the queue already. */
  remove(entry: QueueEntry<T>): boolean {
    const { lane } = entry;
    if (!lane || this.lanes.get(lane.key) !== lane) return false;
    this.unlink(entry, lane);
    return true;
  }

  /** All items, key by key. The current item may be removed during the iteration. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    for (const lane of this.rotation) {
      for (const entry of lane.entries) yield entry.item;
    }
  }

  private addLane(key: string): Lane<T> {
    const lane = new Lane<T>(key);
    this.lanes.set(key, lane);
    this.rotation.append(lane.place);
    return lane;
  }

  private unlink(entry: QueueEntry<T>, lane: Lane<T>): void {
    lane.entries.unlink(entry.place);
    entry.lane = undefined;
    this.size--;
    if (lane.entries.first) return;
    this.rotation.unlink(lane.place);
    this.lanes.delete(lane.key);
  }
}

/** The items of one key. */
class Lane<T> {
  readonly entries = new LinkedList<QueueEntry<T>>();
  readonly place = new ListPlace<Lane<T>>(this);

  constructor(readonly key: string) {}
}

/** An item in the queue: the result of `push` and the argument of `remove`. */
export class QueueEntry<T> {
  readonly place = new ListPlace<QueueEntry<T>>(this);

  constructor(
    readonly item: T,
    /** Undefined when the item has left the queue. */
    public lane: Lane<T> | undefined,
  ) {}
}
