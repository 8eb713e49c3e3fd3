import { GatewayError, limitExceeded } from '../core/errors.js';
import type { Quotas } from './quotas.js';

/** What one principal may have at a time: the name of the counter, the limit, and its words in an error. */
interface PrincipalLimit {
  readonly name: string;
  readonly limit: number;
  /** For example `open sessions`. */
  readonly what: string;
}

/**
 * One limit per principal. Principals are told apart by their quota key: the id of an authenticated principal, the remote
 * address of an anonymous one.
 */
export class PrincipalQuota {
  constructor(
    private readonly quotas: Quotas,
    private readonly settings: PrincipalLimit,
    private readonly onRefused: () => void = () => {},
  ) {}

  isReached(quotaKey: string): boolean {
    return this.quotas.count(this.counterOf(quotaKey)) >= this.settings.limit;
  }

  /** False when the principal has reached the limit. Every successful claim is released once. */
  claim(quotaKey: string): boolean {
    const { limit } = this.settings;
    return this.quotas.claim([{ key: this.counterOf(quotaKey), limit }]) === undefined;
  }

  /** Claims a place even above the limit, for what existed before or replaces something that has a place. */
  claimUnlimited(quotaKey: string): void {
    this.quotas.claim([{ key: this.counterOf(quotaKey), limit: Infinity }]);
  }

  release(quotaKey: string): void {
    const { limit } = this.settings;
    this.quotas.release([{ key: this.counterOf(quotaKey), limit }]);
  }

  /** Counts the refusal and returns its error. */
  refusal(): GatewayError {
    this.onRefused();
    const { limit, what } = this.settings;
    return limitExceeded(`this principal already has ${limit} ${what}`, limit);
  }

  private counterOf(quotaKey: string): string {
    return `${this.settings.name} ${quotaKey}`;
  }
}
