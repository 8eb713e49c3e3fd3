/** One counter of a claim. The key names what is counted and for which principal, if the limit is per principal. */
export interface QuotaCounter {
  readonly key: string;
  /** A claim is refused when the count has reached the limit. Infinity for no limit. */
  readonly limit: number;
}

/**
 * Port for limits across all clients. Check and claim are one synchronous step, so that two clients cannot both get the
 * last place. Every successful claim is released once, with the same counters.
 */
export abstract class Quotas {
  /** Adds one to every counter. If a counter has reached its limit, adds to no counter and returns the one at its limit. */
  abstract claim(counters: readonly QuotaCounter[]): QuotaCounter | undefined;

  abstract release(counters: readonly QuotaCounter[]): void;

  /** Number of claims that have not been released. */
  abstract count(key: string): number;
}
