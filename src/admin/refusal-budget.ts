import { Metrics } from '../metrics/metrics.js';
import type { AdminRole } from './admin-tokens.js';

/** Number of refusals of one role that may be recorded in a burst. */
const MAX_BURST = 100;
/** After a burst, one more refusal may be recorded per interval. */
const REFILL_INTERVAL_MS = 10_000;

interface Budget {
  left: number;
  refilledAt: number;
  /** Number of refusals since the last one that was recorded. */
  suppressed: number;
}

/** Limits how many refusals are written to the audit log, so that refused requests cannot fill the disk. */
export class RefusalBudget {
  private readonly byRole = new Map<AdminRole, Budget>();
  private suppressed = 0;

  constructor(metrics: Metrics) {
    const name = 'gatehouse_audit_refusals_suppressed_total';
    const help = 'Refused changes that were not written to the audit log, because there were too many.';
    metrics.exposeValue('counter', name, help, () => this.suppressed);
  }

  /**
   * Undefined when this refusal must not be recorded. Otherwise the number of refusals that were not recorded since the
   * last one that was.
   */
  take(role: AdminRole, now = performance.now()): number | undefined {
    const budget = this.byRole.get(role) ?? { left: MAX_BURST, refilledAt: now, suppressed: 0 };
    this.byRole.set(role, budget);
    const refills = Math.floor((now - budget.refilledAt) / REFILL_INTERVAL_MS);
    budget.left = Math.min(MAX_BURST, budget.left + refills);
    budget.refilledAt += refills * REFILL_INTERVAL_MS;
    if (budget.left === 0) {
      budget.suppressed++;
      this.suppressed++;
      return undefined;
    }
    budget.left--;
    const { suppressed } = budget;
    budget.suppressed = 0;
    return suppressed;
  }
}
