/** Works on so many at a time; the others wait, in the order in which they came. */
export class WaitingLine<T> {
  private readonly waiting = new Set<T>();
  private running = 0;

  constructor(
    private readonly places: number,
    private readonly work: (item: T) => Promise<void>,
  ) {}

  get size(): number {
    return this.waiting.size;
  }

  /** Begins at once if there is a place. One that waits already keeps its place. */
  add(item: T): void {
    this.waiting.add(item);
    this.advance();
  }

  /** What has begun goes on. */
  delete(item: T): void {
    this.waiting.delete(item);
  }

  clear(): void {
    this.waiting.clear();
  }

  private advance(): void {
    for (const item of this.waiting) {
      if (this.running >= this.places) return;
      this.waiting.delete(item);
      this.running++;
      void this.work(item).finally(() => {
        this.running--;
        this.advance();
      });
    }
  }
}
