/**
 * A queue that is fair between keys: keys take turns, and within a key the first to come is the first served.
 * However much one key has waiting, another waits one turn of each key at most. Every step is O(1).
 */
export class FairQueue<T> {
  private readonly lanes = new Map<string, Lane<T>>();
  /** The lanes in the order of their turns. None is ever empty. */
  private readonly turns = new Chain<Lane<T>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  push(key: string, item: T): Place<T> {
    const lane = this.lanes.get(key) ?? this.open(key);
    const place: Place<T> = { item, lane, previous: undefined, next: undefined };
    lane.places.append(place);
    this.count++;
    return place;
  }

  /** What `shift` would take. Pushing never changes it, so whoever is first stays first. */
  peek(): T | undefined {
    return this.turns.first?.places.first?.item;
  }

  shift(): T | undefined {
    const lane = this.turns.first;
    const place = lane?.places.first;
    if (!lane || !place) return undefined;
    this.turns.unlink(lane);
    this.turns.append(lane);
    this.take(place, lane);
    return place.item;
  }

  /** Idempotent. True when the item was still waiting here. */
  remove(place: Place<T>): boolean {
    const { lane } = place;
    if (!lane || this.lanes.get(lane.key) !== lane) return false;
    this.take(place, lane);
    return true;
  }

  /** Everything that waits, key by key. The item at hand may be removed on the way. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    for (const lane of this.turns) {
      for (const place of lane.places) yield place.item;
    }
  }

  private open(key: string): Lane<T> {
    const lane: Lane<T> = { key, places: new Chain(), previous: undefined, next: undefined };
    this.lanes.set(key, lane);
    this.turns.append(lane);
    return lane;
  }

  private take(place: Place<T>, lane: Lane<T>): void {
    lane.places.unlink(place);
    place.lane = undefined;
    this.count--;
    if (lane.places.first) return;
    this.turns.unlink(lane);
    this.lanes.delete(lane.key);
  }
}

/** Where an item waits: the ticket that `remove` takes back. */
export interface Place<T> extends Linked<Place<T>> {
  readonly item: T;
  /** Absent once the item has left the queue. */
  lane: Lane<T> | undefined;
}

interface Lane<T> extends Linked<Lane<T>> {
  readonly key: string;
  readonly places: Chain<Place<T>>;
}

interface Linked<N> {
  previous: N | undefined;
  next: N | undefined;
}

/** A doubly linked list of nodes that carry their own links, so that leaving the middle needs no search. */
class Chain<N extends Linked<N>> {
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
