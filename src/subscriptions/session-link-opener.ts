import type { Backends } from '../backends/backends.service.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import { RetryTimer } from '../lib/backoff/retry-timer.js';
import type { Subscribers } from './subscribers.js';

const RETRY = { firstMs: 500, maxMs: 30_000 };

/**
 * Keeps the own link of a session open while the session has subscriptions to a server with `isolation: session`. The link
 * for a pending subscription is opened by SubscriptionConfirmation instead.
 */
export class SessionLinkOpener {
  private readonly retries = new Map<string, RetryTimer>();

  constructor(
    private readonly subscribers: Subscribers,
    private readonly backends: Backends,
    private readonly isPending: (row: Subscription) => boolean,
  ) {}

  /** Opens the links of all sessions that are subscribed to resources of the server. */
  openAll(server: string): void {
    const rows = new Map<string, Subscription>();
    for (const target of this.subscribers.table.targetsOf(server))
      target.forEach((row) => rows.set(row.subscriber, row));
    for (const row of rows.values()) this.open(row);
  }

  /** Opens the link of the session that a row belongs to, if the server keeps links per session. */
  open(row: Subscription): void {
    const backend = this.backends.find(row.server);
    const session = backend?.hasSessionLinks ? this.subscribers.subscriberOf(row)?.session : undefined;
    if (session && !this.isPending(row)) backend!.sessionLink(session).catch(() => this.retry(row.server));
  }

  linkLost(server: string, subscriber: string, { wasStable }: { wasStable: boolean }): void {
    if (wasStable) this.stopRetry(server);
    const rows = [...this.subscribers.table.ofSubscriber(subscriber)];
    if (rows.some((row) => row.server === server)) this.retry(server);
  }

  stop(): void {
    for (const server of this.retries.keys()) this.stopRetry(server);
  }

  private retry(server: string): void {
    const retry = this.retries.get(server) ?? new RetryTimer(() => this.openAll(server), RETRY);
    this.retries.set(server, retry);
    retry.plan();
  }

  private stopRetry(server: string): void {
    this.retries.get(server)?.stop();
    this.retries.delete(server);
  }
}
