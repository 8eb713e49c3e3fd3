/** Works on at most `maxConcurrent` items at a time. Waiting items are a set: an item that is added twice waits once. */
export class WorkerPool<T> {
  private readonly waiting = new Set<T>();
  private running = 0;

  constructor(
    private readonly maxConcurrent: number,
    private readonly work: (item: T) => Promise<void>,
  ) {}

  /** Number of items that wait for a worker. */
  get size(): number {
    return this.waiting.size;
  }

  /** Starts the item now if a worker is free. An item that already waits keeps its position. */
  add(item: T): void {
    this.waiting.add(item);
    this.advance();
  }

  /** Removes an item that waits. Work in progress continues. */
  delete(item: T): void {
    this.waiting.delete(item);
  }

  clear(): void {
    this.waiting.clear();
  }

  private advance(): void {
    for (const item of this.waiting) {
      if (this.running >= this.maxConcurrent) return;
      this.waiting.delete(item);
      this.running++;
      void this.work(item).finally(() => {
        this.running--;
        this.advance();
      });
    }
  }
}
