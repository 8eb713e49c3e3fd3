export interface BackoffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
  /** The part of the delay that is random, from 0 to 1. The default is 0.5. */
  readonly jitter?: number;
}

const DEFAULT_LIMITS: BackoffLimits = { firstMs: 500, maxMs: 30_000 };
const DEFAULT_JITTER = 0.5;

/**
 * Exponential backoff with jitter: the delay in milliseconds before the next retry, after `retries` earlier ones. The
 * longest possible delay doubles with each retry, up to `maxMs`. `random`, from 0 to 1, chooses the random part of it.
 */
export function backoffDelay(retries: number, random: number, limits = DEFAULT_LIMITS): number {
  const longest = Math.min(limits.maxMs, limits.firstMs * 2 ** retries);
  const { jitter = DEFAULT_JITTER } = limits;
  return longest * (1 - jitter + random * jitter);
}

/** Counts the retries of one operation. */
export class Backoff {
  private retries = 0;

  constructor(
    private readonly limits: BackoffLimits = DEFAULT_LIMITS,
    private readonly random: () => number = Math.random,
  ) {}

  /** The delay before the next retry in milliseconds. Every call counts as a retry. */
  next(): number {
    return backoffDelay(this.retries++, this.random(), this.limits);
  }

  /** To be called when the operation has succeeded. */
  reset(): void {
    this.retries = 0;
  }
}
