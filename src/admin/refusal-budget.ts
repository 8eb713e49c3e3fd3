import { TokenBucket } from '../lib/token-bucket/token-bucket.js';
import { Metrics } from '../metrics/metrics.js';
import type { AdminRole } from './admin-tokens.js';

/** The refusals of one role that are recorded: 100 at once, then one per interval. */
const RECORDED_REFUSALS = { burst: 100, refill: 1, intervalMs: 10_000 };

/** Limits how many refusals are written to the audit log, so that refused requests cannot fill the disk. */
export class RefusalBudget {
  private readonly byRole = new Map<AdminRole, TokenBucket>();
  private suppressed = 0;

  constructor(metrics: Metrics) {
    const name = 'gatehouse_audit_refusals_suppressed_total';
    const help = 'Refused changes that were not written to the audit log, because there were too many.';
    metrics.exposeValue('counter', name, help, () => this.suppressed);
  }

  /**
   * Undefined when this refusal must not be recorded. Otherwise the number of unrecorded refusals since the last recorded
   * one.
   */
  take(role: AdminRole, now = performance.now()): number | undefined {
    const bucket = this.byRole.get(role) ?? new TokenBucket(RECORDED_REFUSALS);
    this.byRole.set(role, bucket);
    const suppressedBefore = bucket.take(now);
    if (suppressedBefore === undefined) this.suppressed++;
    return suppressedBefore;
  }
}
