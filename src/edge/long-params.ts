import { MemoryLimitError } from '../core/memory-limits.js';

/**
 * Maximum characters of long params in unfinished requests, of one principal and of all principals together. A principal
 * without such a request may exceed both limits with one.
 */
export const MAX_LONG_PARAMS_PER_PRINCIPAL = 64 * 1024 * 1024;
const MAX_LONG_PARAMS = 256 * 1024 * 1024;

/**
 * Limits the memory of requests that are queued or in flight: their params are kept until they are answered. Only long
 * params are counted; short ones are bounded by the limits on the number of requests.
 */
export class LongParams {
  private readonly byPrincipal = new Map<string, number>();
  private total = 0;

  /** Returns the function that releases the claim. Throws when a limit is reached. */
  claim(quotaKey: string, length: number): () => void {
    const claimed = this.byPrincipal.get(quotaKey) ?? 0;
    if (claimed > 0 && claimed + length > MAX_LONG_PARAMS_PER_PRINCIPAL)
      throw tooLong('of this principal', MAX_LONG_PARAMS_PER_PRINCIPAL);
    if (claimed > 0 && this.total + length > MAX_LONG_PARAMS)
      throw tooLong('of all clients', MAX_LONG_PARAMS);
    this.add(quotaKey, length);
    return () => this.add(quotaKey, -length);
  }

  private add(quotaKey: string, length: number): void {
    this.total += length;
    const sum = (this.byPrincipal.get(quotaKey) ?? 0) + length;
    if (sum > 0) this.byPrincipal.set(quotaKey, sum);
    else this.byPrincipal.delete(quotaKey);
  }
}

const tooLong = (whose: string, limit: number): MemoryLimitError =>
  new MemoryLimitError(
    'long-params',
    limit,
    `unfinished requests ${whose} have ${limit} characters of params`,
  );
