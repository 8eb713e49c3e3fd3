import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { ClientAddresses, type PeerRequest } from '../edge/client-addresses.js';
import { TokenBucket } from '../lib/token-bucket/token-bucket.js';
import { Metrics } from '../metrics/metrics.js';

/** Number of failures of one address that are answered without a delay. */
const FREE_FAILURES = 20;
/** After each interval, one failure of an address is forgotten. */
const FORGET_INTERVAL_MS = 1000;
/** With each further failure of an address, the delay of the answer grows by this time, up to the maximum. */
const DELAY_STEP_MS = 100;
const MAX_DELAY_MS = 5000;
/**
 * The `Retry-After` of an attempt that was refused without checking its token. After this time, all answers to the address
 * that are delayed now have been sent.
 */
export const RETRY_AFTER_SECONDS = String(MAX_DELAY_MS / 1000);
/** Maximum number of delayed answers to one address. Further attempts of the address are refused unchecked. */
const MAX_DELAYED = 16;
/**
 * Maximum number of delayed answers to all addresses together. Further attempts are refused unchecked, except those of
 * addresses with fewer than `FREE_FAILURES` failures.
 */
const MAX_DELAYED_IN_TOTAL = 1000;
/** Maximum number of addresses. Beyond it, the address whose last failure is longest ago is forgotten. */
const MAX_ADDRESSES = 10_000;
/** One log line per interval. */
const LOG_RATE = { burst: 1, refill: 1, intervalMs: 10_000 };

/** The failures of one address. */
interface Failures {
  /** Failures that are not forgotten. */
  count: number;
  /** Start of the current interval. `count` no longer contains the failures that were forgotten after earlier intervals. */
  intervalStart: number;
  /** Number of answers that are delayed now. */
  delayedAnswers: number;
}

/**
 * Slows down guessing of admin tokens: counts the invalid tokens of each client address and delays the answers to them. The
 * answer to a valid token is never delayed. A valid token is refused only while too many answers are delayed.
 */
@Injectable()
export class FailedTokens {
  private readonly logger = new Logger('Admin');
  private readonly byAddress = new Map<string, Failures>();
  private readonly counts = { answered: 0, delayed: 0, refused: 0 };
  private delayedInTotal = 0;
  private readonly logBudget = new TokenBucket(LOG_RATE);

  constructor(
    metrics: Metrics,
    private readonly addresses: ClientAddresses,
  ) {
    const name = 'gatehouse_admin_auth_failures_total';
    const help = 'Requests with an invalid admin token, by how they were answered.';
    metrics.expose({ type: 'counter', name, help, labelNames: ['outcome'] }, () =>
      Object.entries(this.counts).map(([outcome, count]) => [{ outcome }, count]),
    );
  }

  /** Whether the token of this request may be checked now. A refusal is counted. */
  allowsAttempt(request: PeerRequest, now = performance.now()): boolean {
    const address = this.addresses.networkOf(request);
    const failures = this.byAddress.get(address);
    if (!failures) return true;
    forget(failures, now);
    const isWithinTotal = this.delayedInTotal < MAX_DELAYED_IN_TOTAL || failures.count < FREE_FAILURES;
    if (failures.delayedAnswers < MAX_DELAYED && isWithinTotal) return true;
    this.countOutcome('refused', address);
    return false;
  }

  /** Counts an invalid token. Resolves when the request may be answered. */
  async recordFailure(request: PeerRequest, now = performance.now()): Promise<void> {
    const address = this.addresses.networkOf(request);
    const failures = this.addFailure(address, now);
    const delayMs = Math.min(MAX_DELAY_MS, (failures.count - FREE_FAILURES) * DELAY_STEP_MS);
    if (delayMs <= 0 || this.delayedInTotal >= MAX_DELAYED_IN_TOTAL) {
      this.countOutcome('answered', address);
      return;
    }
    this.countOutcome('delayed', address);
    this.delayedInTotal++;
    failures.delayedAnswers++;
    await delay(delayMs, undefined, { ref: false });
    this.delayedInTotal--;
    failures.delayedAnswers--;
  }

  get addressCount(): number {
    return this.byAddress.size;
  }

  private addFailure(address: string, now: number): Failures {
    const failures = this.byAddress.get(address) ?? { count: 0, intervalStart: now, delayedAnswers: 0 };
    forget(failures, now);
    failures.count++;
    // Deleted first, so that the map stays in the order of the last failures.
    this.byAddress.delete(address);
    this.byAddress.set(address, failures);
    const [longestAgo] = this.byAddress.keys();
    if (this.byAddress.size > MAX_ADDRESSES) this.byAddress.delete(longestAgo!);
    return failures;
  }

  private countOutcome(outcome: keyof FailedTokens['counts'], address: string): void {
    this.counts[outcome]++;
    const unloggedBefore = this.logBudget.take();
    if (unloggedBefore === undefined) return;
    const failures = unloggedBefore + 1;
    this.logger.warn({ message: 'requests with an invalid admin token were refused', failures, address });
  }
}

/** Forgets one failure for each interval that has passed since the last call. */
function forget(failures: Failures, now: number): void {
  const intervals = Math.floor((now - failures.intervalStart) / FORGET_INTERVAL_MS);
  failures.count = Math.max(0, failures.count - intervals);
  failures.intervalStart += intervals * FORGET_INTERVAL_MS;
}
