import type { Backend } from '../backends/backend.js';
import type { Backends } from '../backends/backends.service.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import { RetryTimer } from '../lib/backoff/retry-timer.js';
import type { Subscribers } from './subscribers.js';

const RETRY_DELAYS = { firstMs: 500, maxMs: 30_000 };

/** Identifies a link that is not shared. */
interface OwnLink {
  readonly server: string;
  /** The id of the owner of the link. */
  readonly owner: string;
}

/**
 * With `isolation: session`, every link to a server has an owner, for example a session. This class keeps such a link open as
 * long as the owner has subscriptions to the server. If all these subscriptions are pending, SubscriptionConfirmation opens the
 * link instead.
 */
export class SessionLinkOpener {
  /** The retries of links that were lost or could not be opened, by `keyOf(link)`. */
  private readonly retries = new Map<string, RetryTimer>();

  constructor(
    private readonly subscribers: Subscribers,
    private readonly backends: Backends,
    private readonly isPending: (row: Subscription) => boolean,
  ) {}

  /** Opens the links of all owners whose subscribers are subscribed to resources of the server. */
  openAll(server: string): void {
    const { table, owned } = this.subscribers;
    const owners = new Set<string>();
    for (const target of table.targetsOf(server)) target.forEach((row) => owners.add(owned.ownerOf(row)));
    for (const owner of owners) this.open({ server, owner });
  }

  /** Opens the link that the subscription needs, if the links of its server are not shared. */
  openFor(row: Subscription): void {
    this.open({ server: row.server, owner: this.subscribers.owned.ownerOf(row) });
  }

  linkLost(link: OwnLink, { wasStable }: { wasStable: boolean }): void {
    const isWanted = this.rowsOf(link).length > 0;
    // After a stable link, the next retry begins with the shortest delay again.
    if (wasStable || !isWanted) this.stopRetry(link);
    if (isWanted) this.retry(link);
  }

  stop(): void {
    for (const retry of this.retries.values()) retry.stop();
    this.retries.clear();
  }

  /** Opens a link, if the links of the server are not shared and there are subscriptions that need it. */
  private open(link: OwnLink): void {
    const backend = this.backends.find(link.server);
    const rows = backend?.hasSessionLinks ? this.rowsOf(link) : [];
    if (rows.length === 0) this.stopRetry(link);
    const row = rows.find((candidate) => !this.isPending(candidate));
    if (row) this.openLink(backend!, row).catch(() => this.retry(link));
  }

  private async openLink(backend: Backend, row: Subscription): Promise<void> {
    const owner = this.subscribers.subscriberOf(row)?.linkOwner;
    if (owner) await backend.sessionLink(owner);
  }

  private rowsOf({ server, owner }: OwnLink): readonly Subscription[] {
    return [...this.subscribers.owned.of(server, owner)];
  }

  private retry(link: OwnLink): void {
    const key = keyOf(link);
    const retry = this.retries.get(key) ?? new RetryTimer(() => this.open(link), RETRY_DELAYS);
    this.retries.set(key, retry);
    retry.plan();
  }

  private stopRetry(link: OwnLink): void {
    const key = keyOf(link);
    this.retries.get(key)?.stop();
    this.retries.delete(key);
  }
}

const keyOf = ({ server, owner }: OwnLink): string => `${server} ${owner}`;
