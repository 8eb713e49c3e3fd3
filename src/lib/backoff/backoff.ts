export interface BackoffLimits {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Ever longer pauses between attempts, each drawn at random up to its limit, so that many do not come as one. */
export class Backoff {
  private attempts = 0;

  constructor(
    private readonly limits: BackoffLimits = { firstMs: 500, longestMs: 30_000 },
    private readonly random: () => number = Math.random,
  ) {}

  next(): number {
    const { firstMs, longestMs } = this.limits;
    const limit = Math.min(longestMs, firstMs * 2 ** this.attempts++);
    // Never less than half: a pause that is drawn as nothing is no pause.
    return limit * (0.5 + this.random() / 2);
  }

  reset(): void {
    this.attempts = 0;
  }
}
