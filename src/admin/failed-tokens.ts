import { isIPv6 } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../metrics/metrics.js';

/** Failures of one address without a delay; one of them is forgotten per second. */
const FREE_FAILURES = 20;
const FORGET_INTERVAL_MS = 1000;
/** Each further failure is answered later than the one before, up to the maximum. */
const DELAY_STEP_MS = 100;
const MAX_DELAY_MS = 5000;
/** Attempts of one address, and of all, whose answer is delayed at the same time. Further ones are refused unchecked. */
const MAX_PENDING = 16;
const MAX_PENDING_IN_TOTAL = 1000;
/** The address with the oldest failure is forgotten first. */
const MAX_ADDRESSES = 10_000;
const LOG_INTERVAL_MS = 10_000;

interface Failures {
  count: number;
  at: number;
  pending: number;
}

/**
 * Slows down guessing of admin tokens: counts failures by remote address and delays their answers. A valid token is not
 * delayed; it is refused only while the same address has many failed attempts in progress.
 */
@Injectable()
export class FailedTokens {
  private readonly logger = new Logger('Admin');
  private readonly byAddress = new Map<string, Failures>();
  private readonly counts = { answered: 0, delayed: 0, refused: 0 };
  private pending = 0;
  private unreported = 0;
  private reportedAt = -Infinity;

  constructor(metrics: Metrics) {
    const name = 'gatehouse_admin_auth_failures_total';
    const help = 'Requests with an invalid admin token, by how they were answered.';
    metrics.expose({ type: 'counter', name, help, labelNames: ['outcome'] }, () =>
      Object.entries(this.counts).map(([outcome, count]) => [{ outcome }, count]),
    );
  }

  /** Whether a token of this address may be checked now. A refusal is counted. */
  allowsAttempt(address: string | undefined): boolean {
    const failures = this.byAddress.get(networkOf(address));
    if (!failures || failures.pending < MAX_PENDING) return true;
    this.count('refused', address);
    return false;
  }

  /** Resolves when the failure may be answered. */
  async fail(address: string | undefined, now = performance.now()): Promise<void> {
    const failures = this.remember(networkOf(address), now);
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

  get addresses(): number {
    return this.byAddress.size;
  }

  private remember(network: string, now: number): Failures {
    const failures = this.byAddress.get(network) ?? { count: 0, at: now, pending: 0 };
    const forgotten = Math.floor((now - failures.at) / FORGET_INTERVAL_MS);
    failures.count = Math.max(0, failures.count - forgotten) + 1;
    failures.at += forgotten * FORGET_INTERVAL_MS;
    this.byAddress.delete(network);
    this.byAddress.set(network, failures);
    if (this.byAddress.size > MAX_ADDRESSES) this.byAddress.delete(this.byAddress.keys().next().value!);
    return failures;
  }

  private count(outcome: keyof FailedTokens['counts'], address: string | undefined): void {
    this.counts[outcome]++;
    this.unreported++;
    const now = performance.now();
    if (now - this.reportedAt < LOG_INTERVAL_MS) return;
    const failures = this.unreported;
    this.reportedAt = now;
    this.unreported = 0;
    this.logger.warn({ message: 'requests with an invalid admin token were refused', failures, address });
  }
}

/** One host has a whole /64 of IPv6 addresses. */
function networkOf(address = 'unknown'): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  const zeros = tail === undefined ? [] : Array.from({ length: 4 }, () => '0');
  return [...groups, ...zeros].slice(0, 4).join(':');
}
