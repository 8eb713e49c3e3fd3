interface Identified {
  readonly id: number;
}

const MIN_SLOTS = 64;

/**
 * A table of items by id. Ids ascend and are never reused. The item with the id `id` is in slot `id` modulo the number of
 * slots, which is a power of two.
 *
 * Used in place of a Map: when a Map grows, V8 keeps its old table, with all entries, linked to the new one. At
 * thousands of insertions and removals a second, removed items would stay in memory until a full garbage collection.
 */
export class IdTable<T extends Identified> implements Iterable<T> {
  private slots = emptySlots<T>(MIN_SLOTS);
  private count = 0;

  constructor(private lastId = 0) {}

  get size(): number {
    return this.count;
  }

  /** The last id that `nextId` returned. */
  get latestId(): number {
    return this.lastId;
  }

  /** Returns a new id for the item that is added next. Skips ids whose slot is taken by an older item. */
  nextId(): number {
    const isHalfFull = this.count * 2 >= this.slots.length;
    if (isHalfFull) this.grow();
    do this.lastId++;
    while (this.slots[this.slotOf(this.lastId)]);
    return this.lastId;
  }

  add(item: T): void {
    this.slots[this.slotOf(item.id)] = item;
    this.count++;
  }

  /** Accepts any value, because the id may come from a peer. */
  get(id: unknown): T | undefined {
    if (typeof id !== 'number') return undefined;
    const item = this.slots[this.slotOf(id)];
    return item?.id === id ? item : undefined;
  }

  /** Returns false when there is no such item. */
  delete(id: number): boolean {
    if (!this.get(id)) return false;
    this.slots[this.slotOf(id)] = undefined;
    this.count--;
    return true;
  }

  /** Iterates in no particular order. An item that is deleted during the iteration is not visited. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    if (this.count === 0) return;
    // If the table grows during the iteration, the loop continues over the old slots; `get` looks in the new ones.
    for (const item of this.slots) if (item && this.get(item.id) === item) yield item;
  }

  /** `id` modulo the number of slots. */
  private slotOf(id: number): number {
    return id & (this.slots.length - 1);
  }

  private grow(): void {
    const items = [...this];
    this.slots = emptySlots(this.slots.length * 2);
    for (const item of items) this.slots[this.slotOf(item.id)] = item;
  }
}

const emptySlots = <T>(size: number): (T | undefined)[] => Array.from<T | undefined>({ length: size });
