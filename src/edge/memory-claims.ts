import { MemoryLimitError, type MemoryLimit } from '../core/memory-limits.js';

interface ClaimLimits {
  /** The name of the limit in metrics. */
  readonly limit: MemoryLimit;
  readonly perPrincipal: number;
  readonly total: number;
  /** The name of what is claimed, for the error message. */
  readonly what: string;
}

const MB = 1024 * 1024;

/** For the bodies of requests that are being received. `receiveBody` claims no memory for a body that arrives in one piece. */
export const REQUEST_BODY_LIMITS: ClaimLimits = {
  limit: 'request-bodies',
  perPrincipal: 64 * MB,
  total: 256 * MB,
  what: 'bytes of request bodies that are being received',
};

/**
 * For the params of requests that are not answered yet. Only long params are claimed. The memory of short params is
 * limited by the maximum number of requests.
 */
export const LONG_PARAMS_LIMITS: ClaimLimits = {
  limit: 'long-params',
  perPrincipal: 64 * MB,
  total: 256 * MB,
  what: 'characters of params in unfinished requests',
};

/**
 * Limits the memory that requests of one principal take, and the memory that requests of all principals take together.
 * If a principal has no other claim, its claim is accepted even beyond these limits, so that each principal can send one
 * request.
 */
export class MemoryClaims {
  private readonly byPrincipal = new Map<string, number>();
  private total = 0;

  constructor(private readonly limits: ClaimLimits) {}

  /**
   * Claims `length` bytes or characters. Returns the function that releases the claim. Throws if a limit is reached.
   */
  claim(quotaKey: string, length: number): () => void {
    const { perPrincipal, total } = this.limits;
    const claimedLength = this.byPrincipal.get(quotaKey) ?? 0;
    if (claimedLength > 0 && claimedLength + length > perPrincipal)
      throw this.limitError('this principal', perPrincipal);
    if (claimedLength > 0 && this.total + length > total) throw this.limitError('all clients', total);
    this.add(quotaKey, length);
    return () => this.add(quotaKey, -length);
  }

  private add(quotaKey: string, length: number): void {
    this.total += length;
    const sum = (this.byPrincipal.get(quotaKey) ?? 0) + length;
    if (sum > 0) this.byPrincipal.set(quotaKey, sum);
    else this.byPrincipal.delete(quotaKey);
  }

  private limitError(claimant: string, max: number): MemoryLimitError {
    const { limit, what } = this.limits;
    return new MemoryLimitError(limit, max, `${claimant} may have at most ${max} ${what}`);
  }
}
