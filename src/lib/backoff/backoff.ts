export interface BackoffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
}

const DEFAULT_LIMITS: BackoffLimits = { firstMs: 500, maxMs: 30_000 };

/**
 * Exponential backoff with jitter: the delay after so many failures before the last one. `random` is between 0 and 1.
 * The delay is never less than half of its limit, so that it is never close to none.
 */
export function backoffDelay(failures: number, random: number, limits = DEFAULT_LIMITS): number {
  const limit = Math.min(limits.maxMs, limits.firstMs * 2 ** failures);
  return limit * (0.5 + random / 2);
}

/** The delays between consecutive attempts. */
export class Backoff {
  private failures = 0;

  constructor(
    private readonly limits: BackoffLimits = DEFAULT_LIMITS,
    private readonly random: () => number = Math.random,
  ) {}

  /** The delay before the next attempt in milliseconds. */
  next(): number {
    return backoffDelay(this.failures++, this.random(), this.limits);
  }

  reset(): void {
    this.failures = 0;
  }
}
