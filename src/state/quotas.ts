/** One counter of a claim. The key names what is counted, for example `sessions`. */
export interface QuotaCounter {
  readonly key: string;
  /** The claim is refused when the count has reached it. Infinity where there is no limit. */
  readonly limit: number;
}

/**
 * Port for limits on what all clients have together. Check and claim are one synchronous step, so that two clients cannot
 * both get the last place. Every successful claim is released once, with the same counters.
 */
export abstract class Quotas {
  /** Adds one to every counter, or to none: then it returns the first counter that is at its limit. */
  abstract claim(counters: readonly QuotaCounter[]): QuotaCounter | undefined;

  abstract release(counters: readonly QuotaCounter[]): void;

  /** Claims that have not been released. */
  abstract count(key: string): number;
}
