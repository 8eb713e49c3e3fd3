import type { Backends } from '../backends/backends.service.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import { RetryTimer } from '../lib/backoff/retry-timer.js';
import type { Subscribers } from './subscribers.js';

const RETRY_DELAYS = { firstMs: 500, maxMs: 30_000 };

/** Identifies the link of a session (`subscriber`) to a server. */
type LinkOwner = Pick<Subscription, 'server' | 'subscriber'>;

/**
 * Keeps the link of a session open while the session has subscriptions to a server with `isolation: session`. If all
 * these subscriptions are pending, SubscriptionConfirmation opens the link instead.
 */
export class SessionLinkOpener {
  /** By `keyOf` the link. */
  private readonly retries = new Map<string, RetryTimer>();

  constructor(
    private readonly subscribers: Subscribers,
    private readonly backends: Backends,
    private readonly isPending: (row: Subscription) => boolean,
  ) {}

  /** Opens the links of all sessions that are subscribed to resources of the server. */
  openAll(server: string): void {
    const subscribers = new Set<string>();
    for (const target of this.subscribers.table.targetsOf(server))
      target.forEach(({ subscriber }) => subscribers.add(subscriber));
    for (const subscriber of subscribers) this.open({ server, subscriber });
  }

  /** Opens the link of one session, if the server has a link per session and the session has subscriptions to it. */
  open(owner: LinkOwner): void {
    const backend = this.backends.find(owner.server);
    const rows = backend?.hasSessionLinks ? this.rowsOf(owner) : [];
    if (rows.length === 0) this.stopRetry(owner);
    const row = rows.find((candidate) => !this.isPending(candidate));
    const session = row && this.subscribers.subscriberOf(row)?.session;
    if (session) backend!.sessionLink(session).catch(() => this.retry(owner));
  }

  linkLost(owner: LinkOwner, { wasStable }: { wasStable: boolean }): void {
    const isWanted = this.rowsOf(owner).length > 0;
    if (wasStable || !isWanted) this.stopRetry(owner);
    if (isWanted) this.retry(owner);
  }

  stop(): void {
    for (const retry of this.retries.values()) retry.stop();
    this.retries.clear();
  }

  private rowsOf({ server, subscriber }: LinkOwner): readonly Subscription[] {
    return [...this.subscribers.table.ofSubscriber(subscriber)].filter((row) => row.server === server);
  }

  private retry(owner: LinkOwner): void {
    const key = keyOf(owner);
    const retry = this.retries.get(key) ?? new RetryTimer(() => this.open(owner), RETRY_DELAYS);
    this.retries.set(key, retry);
    retry.plan();
  }

  private stopRetry(owner: LinkOwner): void {
    const key = keyOf(owner);
    this.retries.get(key)?.stop();
    this.retries.delete(key);
  }
}

const keyOf = ({ server, subscriber }: LinkOwner): string => `${server} ${subscriber}`;
