import { GatewayError, limitExceeded } from '../core/errors.js';
import type { QuotaCounter, Quotas } from './quotas.js';

interface PrincipalLimit {
  /** First part of the keys of the counters; the second part is the quota key of the principal. */
  readonly name: string;
  readonly limit: number;
  /** What is limited, as a noun for the error message: for example `open sessions`. */
  readonly noun: string;
}

/**
 * One limit per principal. A principal is identified by its quota key: the id of an authenticated principal, or the remote
 * address of an anonymous client.
 */
export class PrincipalQuota {
  /** The counters of principals with claims, by quota key. They are cached because composing the key of a counter is slow. */
  private readonly counters = new Map<string, readonly [QuotaCounter]>();

  constructor(
    private readonly quotas: Quotas,
    private readonly settings: PrincipalLimit,
    private readonly onRefused: () => void = () => {},
  ) {}

  isReached(quotaKey: string): boolean {
    return this.quotas.count(this.counterOf(quotaKey)[0].key) >= this.settings.limit;
  }

  /** False when the principal has reached the limit. Every successful claim is released once. */
  claim(quotaKey: string): boolean {
    const cachedCounter = this.counters.get(quotaKey);
    const counter = cachedCounter ?? this.counterOf(quotaKey);
    if (this.quotas.claim(counter) !== undefined) return false;
    if (!cachedCounter) this.counters.set(quotaKey, counter);
    return true;
  }

  /**
   * Claims even above the limit. Used for sessions that are already open: those of the previous process, and those whose
   * quota key changes.
   */
  claimUnlimited(quotaKey: string): void {
    const [{ key }] = this.counterOf(quotaKey);
    this.quotas.claim([{ key, limit: Infinity }]);
  }

  release(quotaKey: string): void {
    const counter = this.counterOf(quotaKey);
    this.quotas.release(counter);
    if (this.quotas.count(counter[0].key) === 0) this.counters.delete(quotaKey);
  }

  /** Counts a refusal. Returns the error for the client. */
  refuse(): GatewayError {
    this.onRefused();
    const { limit, noun } = this.settings;
    return limitExceeded(`this principal already has ${limit} ${noun}`, limit);
  }

  private counterOf(quotaKey: string): readonly [QuotaCounter] {
    const { name, limit } = this.settings;
    return this.counters.get(quotaKey) ?? [{ key: `${name} ${quotaKey}`, limit }];
  }
}
