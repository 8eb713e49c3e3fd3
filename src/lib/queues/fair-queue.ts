/**
 * A queue that serves keys round-robin and the items of one key first in, first out. An item at the head of its key waits
 * for at most one item of each other key, however long their backlogs are. Every operation takes constant time.
 */
export class FairQueue<T> {
  private readonly lanes = new Map<string, Lane<T>>();
  /** The lanes in the order in which they are served. Empty lanes are removed. */
  private readonly rotation = new LinkedList<Lane<T>>();
  /** Number of items of all keys together. */
  size = 0;

  push(key: string, item: T): QueueEntry<T> {
    const lane = this.lanes.get(key) ?? this.addLane(key);
    const entry: QueueEntry<T> = { item, lane, previous: undefined, next: undefined };
    lane.entries.append(entry);
    this.size++;
    return entry;
  }

  /** The item that `shift` would return. `push` does not change it unless the queue is empty. */
  peek(): T | undefined {
    return this.rotation.first?.entries.first?.item;
  }

  shift(): T | undefined {
    const lane = this.rotation.first;
    const entry = lane?.entries.first;
    if (!lane || !entry) return undefined;
    this.rotation.unlink(lane);
    this.rotation.append(lane);
    this.unlink(entry, lane);
    return entry.item;
  }

  /** Idempotent. True when the item was in the queue. */
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
    const lane: Lane<T> = { key, entries: new LinkedList(), previous: undefined, next: undefined };
    this.lanes.set(key, lane);
    this.rotation.append(lane);
    return lane;
  }

  private unlink(entry: QueueEntry<T>, lane: Lane<T>): void {
    lane.entries.unlink(entry);
    entry.lane = undefined;
    this.size--;
    if (lane.entries.first) return;
    this.rotation.unlink(lane);
    this.lanes.delete(lane.key);
  }
}

/** An item in the queue; the argument of `remove`. */
export interface QueueEntry<T> extends Linked<QueueEntry<T>> {
  readonly item: T;
  /** Undefined when the item has left the queue. */
  lane: Lane<T> | undefined;
}

/** The items of one key. */
interface Lane<T> extends Linked<Lane<T>> {
  readonly key: string;
  readonly entries: LinkedList<QueueEntry<T>>;
}

interface Linked<N> {
  previous: N | undefined;
  next: N | undefined;
}

/** An intrusive doubly linked list, so that removal needs no search. */
class LinkedList<N extends Linked<N>> {
  first: N | undefined;
  private last: N | undefined;

  append(node: N): void {
    node.previous = this.last;
    if (this.last) this.last.next = node;
    else this.first = node;
    this.last = node;
  }

  unlink(node: N): void {
    if (node.previous) node.previous.next = node.next;
    else this.first = node.next;
    if (node.next) node.next.previous = node.previous;
    else this.last = node.previous;
    node.previous = undefined;
    node.next = undefined;
  }

  *[Symbol.iterator](): Generator<N, void, undefined> {
    let node = this.first;
    while (node) {
      const { next } = node;
      yield node;
      node = next;
    }
  }
}
