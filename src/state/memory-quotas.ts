import { Quotas, type QuotaCounter } from './quotas.js';

/** Counters in memory, for a single gateway process. */
export class MemoryQuotas extends Quotas {
  /** By key. A counter at zero has no entry. */
  private readonly counts = new Map<string, number>();

  override claim(counters: readonly QuotaCounter[]): QuotaCounter | undefined {
    for (const counter of counters) if (this.count(counter.key) >= counter.limit) return counter;
    for (const { key } of counters) this.counts.set(key, this.count(key) + 1);
    return undefined;
  }

  override release(counters: readonly QuotaCounter[]): void {
    for (const { key } of counters) {
      const remaining = this.count(key) - 1;
      if (remaining > 0) this.counts.set(key, remaining);
      else this.counts.delete(key);
    }
  }

  override count(key: string): number {
    return this.counts.get(key) ?? 0;
  }
}
