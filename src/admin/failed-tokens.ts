import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { ClientAddresses, type PeerRequest } from '../edge/client-addresses.js';
import { TokenBucket } from '../lib/token-bucket/token-bucket.js';
import { Metrics } from '../metrics/metrics.js';

/** Number of failures of one address that are answered without a delay. One failure is forgotten per second. */
const FREE_FAILURES = 20;
const FORGET_INTERVAL_MS = 1000;
/** Each further failure is answered later than the one before, up to the maximum. */
const DELAY_STEP_MS = 100;
const MAX_DELAY_MS = 5000;
/** When to repeat an attempt that was refused unchecked: by then, the delayed answers to its address have been sent. */
export const RETRY_AFTER_SECONDS = String(MAX_DELAY_MS / 1000);
/** Answers to one address that are delayed at the same time. Further attempts of the address are refused unchecked. */
const MAX_PENDING = 16;
/**
 * Answers to all addresses that are delayed at the same time. Further attempts are refused unchecked, unless the address
 * has failed so seldom that the answer would not be delayed.
 */
const MAX_PENDING_IN_TOTAL = 1000;
/** Beyond this number, the address whose last failure is longest ago is forgotten. */
const MAX_ADDRESSES = 10_000;
const LOGGED_FAILURES = { burst: 1, refill: 1, intervalMs: 10_000 };

interface Failures {
  count: number;
  at: number;
  pending: number;
}

/**
 * Slows down guessing of admin tokens: counts failures by the address of the client and delays their answers. A valid
 * token is not delayed; it is refused only while many answers to the same address are delayed.
 */
@Injectable()
export class FailedTokens {
  private readonly logger = new Logger('Admin');
  private readonly byAddress = new Map<string, Failures>();
  private readonly counts = { answered: 0, delayed: 0, refused: 0 };
  private pending = 0;
  private readonly lines = new TokenBucket(LOGGED_FAILURES);

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
    const isWithinTotal = this.pending < MAX_PENDING_IN_TOTAL || failures.count < FREE_FAILURES;
    if (failures.pending < MAX_PENDING && isWithinTotal) return true;
    this.count('refused', address);
    return false;
  }

  /** Counts a failure. Resolves when it may be answered. */
  async recordFailure(request: PeerRequest, now = performance.now()): Promise<void> {
    const address = this.addresses.networkOf(request);
    const failures = this.add(address, now);
    const ms = Math.min(MAX_DELAY_MS, (failures.count - FREE_FAILURES) * DELAY_STEP_MS);
    if (ms <= 0 || this.pending >= MAX_PENDING_IN_TOTAL) {
      this.count('answered', address);
      return;
    }
    this.count('delayed', address);
    this.pending++;
    failures.pending++;
    await delay(ms, undefined, { ref: false });
    this.pending--;
    failures.pending--;
  }

  get addressCount(): number {
    return this.byAddress.size;
  }

  private add(address: string, now: number): Failures {
    const failures = this.byAddress.get(address) ?? { count: 0, at: now, pending: 0 };
    forget(failures, now);
    failures.count++;
    this.byAddress.delete(address);
    this.byAddress.set(address, failures);
    if (this.byAddress.size > MAX_ADDRESSES) this.byAddress.delete(this.byAddress.keys().next().value!);
    return failures;
  }

  private count(outcome: keyof FailedTokens['counts'], address: string): void {
    this.counts[outcome]++;
    const suppressed = this.lines.take();
    if (suppressed === undefined) return;
    const failures = suppressed + 1;
    this.logger.warn({ message: 'requests with an invalid admin token were refused', failures, address });
  }
}

function forget(failures: Failures, now: number): void {
  const forgotten = Math.floor((now - failures.at) / FORGET_INTERVAL_MS);
  failures.count = Math.max(0, failures.count - forgotten);
  failures.at += forgotten * FORGET_INTERVAL_MS;
}
