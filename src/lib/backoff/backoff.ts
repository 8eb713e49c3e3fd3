export interface BackoffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
  /** The share of the delay that is random, from 0 to 1. The default is 0.5. */
  readonly jitter?: number;
}

const DEFAULT_LIMITS: BackoffLimits = { firstMs: 500, maxMs: 30_000 };
const DEFAULT_JITTER = 0.5;

/**
 * Exponential backoff with jitter: returns the delay before the next retry in milliseconds. `retries` is the number of
 * earlier retries. The longest possible delay doubles with each retry, up to `maxMs`. The random share of the delay is
 * multiplied by `random`, which is from 0 to 1.
 */
export function backoffDelay(retries: number, random: number, limits = DEFAULT_LIMITS): number {
  const longestMs = Math.min(limits.maxMs, limits.firstMs * 2 ** retries);
  const { jitter = DEFAULT_JITTER } = limits;
  const fixedShare = 1 - jitter;
  return longestMs * (fixedShare + random * jitter);
}

/** Counts the retries of one operation. */
export class Backoff {
  private retries = 0;

  constructor(
    private readonly limits: BackoffLimits = DEFAULT_LIMITS,
    private readonly random: () => number = Math.random,
  ) {}

  /** Returns the delay before the next retry in milliseconds. Every call counts as a retry. */
  next(): number {
    return backoffDelay(this.retries++, this.random(), this.limits);
  }

  /** Call this when the operation has succeeded. */
  reset(): void {
    this.retries = 0;
  }
}
