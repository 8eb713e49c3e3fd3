export interface BucketRate {
  /** Maximum number of events at once. */
  readonly burst: number;
  /** Number of further events that each interval allows. */
  readonly refill: number;
  readonly intervalMs: number;
}

/** A token bucket: allows events up to a rate, and counts the others. Times are those of `performance.now()`. */
export class TokenBucket {
  private tokens = 0;
  private intervalStart = -Infinity;
  private refused = 0;

  constructor(private readonly rate: BucketRate) {}

  /** Whether the next event would be refused. */
  get isEmpty(): boolean {
    if (this.tokens > 0) return false;
    this.refill(performance.now());
    return this.tokens === 0;
  }

  /**
   * Returns undefined when the event is refused. If it is allowed, returns the number of events refused since the last
   * allowed one.
   */
  take(now = performance.now()): number | undefined {
    this.refill(now);
    if (this.tokens === 0) {
      this.refused++;
      return undefined;
    }
    this.tokens--;
    const { refused } = this;
    this.refused = 0;
    return refused;
  }

  private refill(now: number): void {
    const { burst, refill, intervalMs } = this.rate;
    const intervals = Math.floor((now - this.intervalStart) / intervalMs);
    if (intervals < 1) return;
    this.tokens = Math.min(burst, this.tokens + intervals * refill);
    this.intervalStart = this.tokens === burst ? now : this.intervalStart + intervals * intervalMs;
  }
}
