/** An item with a point in time, on the clock of `performance.now()`, at which it expires. */
interface Expiring {
  readonly deadline: number;
}

/** The longest delay that `setTimeout` accepts. A longer one is treated as 1 ms. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * One timer for many deadlines, for items that are mostly removed long before they expire: adding an item costs a
 * comparison and removing one costs nothing. All items are read only when the earliest deadline has passed.
 */
export class Deadlines<T extends Expiring> {
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Infinity;

  /**
   * The timer waits at least `minDelayMs`, so that one sweep covers many items. An item may therefore expire late by
   * `minDelayMs`.
   */
  constructor(
    private readonly items: () => Iterable<T>,
    private readonly expire: (item: T) => void,
    private readonly minDelayMs = 0,
  ) {}

  /** To be called for every new item. */
  watch(deadline: number): void {
    if (deadline >= this.dueAt) return;
    const now = performance.now();
    const dueAt = Math.max(deadline, now + this.minDelayMs);
    if (dueAt >= this.dueAt) return;
    clearTimeout(this.timer);
    this.dueAt = dueAt;
    this.timer = setTimeout(() => this.sweep(), Math.min(Math.ceil(dueAt - now), MAX_TIMER_MS)).unref();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.dueAt = Infinity;
  }

  private sweep(): void {
    this.dueAt = Infinity;
    const now = performance.now();
    const expired: T[] = [];
    for (const item of this.items()) if (item.deadline <= now) expired.push(item);
    for (const item of expired) this.expire(item);
    // Read again: `expire` may have extended deadlines, or added and removed items.
    for (const item of this.items()) if (item.deadline > now) this.watch(item.deadline);
  }
}
