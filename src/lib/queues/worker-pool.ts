/**
 * Processes at most `maxConcurrent` items at a time. An item that is added again while it waits is processed once.
 * `process` must not reject.
 */
export class WorkerPool<T> {
  private readonly waiting = new Set<T>();
  private running = 0;

  constructor(
    private readonly maxConcurrent: number,
    private readonly process: (item: T) => Promise<void>,
  ) {}

  /** Number of items that wait for a worker. */
  get size(): number {
    return this.waiting.size;
  }

  /** Processes the item now if a worker is free. An item that already waits keeps its position. */
  add(item: T): void {
    this.waiting.add(item);
    this.startWaitingItems();
  }

  /** Removes an item that waits. An item that is being processed is not affected. */
  delete(item: T): void {
    this.waiting.delete(item);
  }

  clear(): void {
    this.waiting.clear();
  }

  private startWaitingItems(): void {
    for (const item of this.waiting) {
      if (this.running >= this.maxConcurrent) return;
      this.waiting.delete(item);
      this.running++;
      void this.process(item).finally(() => {
        this.running--;
        this.startWaitingItems();
      });
    }
  }
}
