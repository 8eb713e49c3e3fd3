interface ScoredItem<Item> {
  readonly item: Item;
  readonly score: number;
}

/** Keeps the `limit` items with the highest scores, in a binary heap whose root is the item with the lowest score. */
export class TopK<Item> {
  private readonly scores: number[] = [];
  private readonly items: Item[] = [];

  constructor(
    private readonly limit: number,
    /** Order of items with the same score. The item that comes first counts as better. */
    private readonly compareTied: (a: Item, b: Item) => number,
  ) {}

  /** The lowest score that `offer` can accept. */
  get minScore(): number {
    if (this.limit <= 0) return Infinity;
    return this.items.length < this.limit ? -Infinity : this.scores[0]!;
  }

  /** Adds an item. If there are more than `limit` items then, drops the worst one. */
  offer(item: Item, score: number): void {
    if (this.limit <= 0) return;
    if (this.items.length < this.limit) {
      this.siftUp(this.items.length, item, score);
      return;
    }
    if (this.isWorse(this.scores[0]!, this.items[0]!, score, item)) this.siftDown(item, score);
  }

  /** Removes and returns all items, best first. */
  take(): ScoredItem<Item>[] {
    const sorted: ScoredItem<Item>[] = [];
    while (this.items.length > 0) {
      sorted.push({ item: this.items[0]!, score: this.scores[0]! });
      const item = this.items.pop()!;
      const score = this.scores.pop()!;
      if (this.items.length > 0) this.siftDown(item, score);
    }
    return sorted.toReversed();
  }

  private isWorse(score: number, item: Item, otherScore: number, other: Item): boolean {
    return score === otherScore ? this.compareTied(item, other) > 0 : score < otherScore;
  }

  /** Adds an item at `from`, the first free place of the heap, and moves it up until the order of the heap is restored. */
  private siftUp(from: number, item: Item, score: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (!this.isWorse(score, item, this.scores[parent]!, this.items[parent]!)) break;
      this.put(at, this.items[parent]!, this.scores[parent]!);
      at = parent;
    }
    this.put(at, item, score);
  }

  /** Replaces the root by this item, and restores the order of the heap. */
  private siftDown(item: Item, score: number): void {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.items.length) break;
      if (child + 1 < this.items.length && this.isWorseAt(child + 1, child)) child++;
      if (!this.isWorse(this.scores[child]!, this.items[child]!, score, item)) break;
      this.put(at, this.items[child]!, this.scores[child]!);
      at = child;
    }
    this.put(at, item, score);
  }

  private isWorseAt(a: number, b: number): boolean {
    return this.isWorse(this.scores[a]!, this.items[a]!, this.scores[b]!, this.items[b]!);
  }

  private put(at: number, item: Item, score: number): void {
    this.items[at] = item;
    this.scores[at] = score;
  }
}
