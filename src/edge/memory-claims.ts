import { MemoryLimitError, type MemoryLimit } from '../core/memory-limits.js';

interface ClaimLimits {
  /** The name of the limit in metrics. */
  readonly limit: MemoryLimit;
  readonly perPrincipal: number;
  readonly total: number;
  /** What is claimed, for the error message. */
  readonly what: string;
}

const MB = 1024 * 1024;

/** The bodies of requests that are being received. A body that arrives in one piece is not claimed: see `readBody`. */
export const REQUEST_BODIES: ClaimLimits = {
  limit: 'request-bodies',
  perPrincipal: 64 * MB,
  total: 256 * MB,
  what: 'bytes of request bodies that are being received',
};

/**
 * The params of requests that are queued or in flight, which are kept until the answer. Only long params are claimed; short
 * ones are bounded by the limits on the number of requests.
 */
export const LONG_PARAMS: ClaimLimits = {
  limit: 'long-params',
  perPrincipal: 64 * MB,
  total: 256 * MB,
  what: 'characters of params in unfinished requests',
};

/**
 * Limits the memory of the requests of one principal, and of all principals together. The first claim of a principal is
 * accepted even beyond these limits.
 */
export class MemoryClaims {
  private readonly byPrincipal = new Map<string, number>();
  private total = 0;

  constructor(private readonly limits: ClaimLimits) {}

  /** Returns the function that releases the claim. Throws when a limit is reached. */
  claim(quotaKey: string, length: number): () => void {
    const { perPrincipal, total } = this.limits;
    const claimed = this.byPrincipal.get(quotaKey) ?? 0;
    if (claimed > 0 && claimed + length > perPrincipal) throw this.limitError('this principal', perPrincipal);
    if (claimed > 0 && this.total + length > total) throw this.limitError('all clients', total);
    this.add(quotaKey, length);
    return () => this.add(quotaKey, -length);
  }

  private add(quotaKey: string, length: number): void {
    this.total += length;
    const sum = (this.byPrincipal.get(quotaKey) ?? 0) + length;
    if (sum > 0) this.byPrincipal.set(quotaKey, sum);
    else this.byPrincipal.delete(quotaKey);
  }

  private limitError(whose: string, max: number): MemoryLimitError {
    const { limit, what } = this.limits;
    return new MemoryLimitError(limit, max, `${whose} may have at most ${max} ${what}`);
  }
}
