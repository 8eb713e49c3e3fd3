interface Numbered {
  readonly id: number;
}

const FEWEST = 64;

/**
 * What is under way, each under a number of its own that is never given twice. A Map or Set would do, but V8 links every
 * table that one has outgrown to the next, entries included: where thousands come and go each second, each of them and
 * all it holds would live on until a full garbage collection.
 */
export class IdTable<T extends Numbered> implements Iterable<T> {
  private slots = empty<T>(FEWEST);
  private count = 0;

  constructor(private lastId = 0) {}

  get size(): number {
    return this.count;
  }

  /** The number of the item that is added next. */
  nextId(): number {
    if (this.count * 2 >= this.slots.length) this.grow();
    do this.lastId++;
    while (this.slots[this.place(this.lastId)]);
    return this.lastId;
  }

  add(item: T): void {
    this.slots[this.place(item.id)] = item;
    this.count++;
  }

  /** Takes anything for an id: others write them too. */
  get(id: unknown): T | undefined {
    if (typeof id !== 'number') return undefined;
    const item = this.slots[this.place(id)];
    return item?.id === id ? item : undefined;
  }

  /** False when it was not there. */
  delete(id: number): boolean {
    if (!this.get(id)) return false;
    this.slots[this.place(id)] = undefined;
    this.count--;
    return true;
  }

  /** In no order. What is deleted on the way is not met any more. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    // Most often nothing is under way when something has to be looked for.
    if (this.count === 0) return;
    // Where the table grows on the way, this goes on over the old one, from which nothing is deleted.
    for (const item of this.slots) if (item && this.get(item.id) === item) yield item;
  }

  private place(id: number): number {
    return id & (this.slots.length - 1);
  }

  private grow(): void {
    const items = [...this];
    this.slots = empty(this.slots.length * 2);
    for (const item of items) this.slots[this.place(item.id)] = item;
  }
}

const empty = <T>(size: number): (T | undefined)[] => Array.from<T | undefined>({ length: size });
