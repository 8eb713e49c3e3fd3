/** An item with a point in time, on the clock of `performance.now()`, at which it expires. */
interface Expiring {
  readonly deadline: number;
}

/** The longest delay that `setTimeout` accepts. A longer one is treated as 1 ms. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Expires items at their deadlines with one timer for all items. Made for items that are mostly removed long before they
 * expire, such as requests: adding an item costs a comparison, and removing an item costs nothing. All items are read
 * only when the timer fires.
 */
export class Deadlines<T extends Expiring> {
  private timer: NodeJS.Timeout | undefined;
  private timerEndsAt = Infinity;

  /**
   * The owner keeps the items; `items` returns the current ones. The timer waits at least `minDelayMs`, so that one sweep
   * covers many items. An item may therefore expire late by up to `minDelayMs`.
   */
  constructor(
    private readonly items: () => Iterable<T>,
    private readonly expire: (item: T) => void,
    private readonly minDelayMs = 0,
  ) {}

  /** Call this with the deadline of every new item. */
  watch(deadline: number): void {
    if (deadline >= this.timerEndsAt) return;
    const now = performance.now();
    const endsAt = Math.max(deadline, now + this.minDelayMs);
    if (endsAt >= this.timerEndsAt) return;
    clearTimeout(this.timer);
    this.timerEndsAt = endsAt;
    this.timer = setTimeout(() => this.sweep(), Math.min(Math.ceil(endsAt - now), MAX_TIMER_MS)).unref();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timerEndsAt = Infinity;
  }

  /** Expires all items whose deadline has passed, and starts the timer for the earliest of the others. */
  private sweep(): void {
    this.timerEndsAt = Infinity;
    const now = performance.now();
    const expired: T[] = [];
    for (const item of this.items()) if (item.deadline <= now) expired.push(item);
    for (const item of expired) this.expire(item);
    // The items are read again, because `expire` may have extended deadlines or have added and removed items.
    for (const item of this.items()) if (item.deadline > now) this.watch(item.deadline);
  }
}
