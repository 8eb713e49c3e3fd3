import type { SubscriptionTable } from '../core/subscriptions/subscription-table.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import type { Subscriber } from '../mcp/mcp-context.js';

/**
 * Finds subscriptions by the owner of the links over which they are made, for servers with `isolation: session`. The owner
 * of a session's links is the session itself. The listen streams of one principal, or of one session handle, have one link
 * owner in common.
 */
export class SubscriptionsByLinkOwner {
  /** By id of each subscriber that is not its own link owner: the id of its link owner. */
  private readonly owners = new Map<string, string>();
  /** By id of each link owner in `owners`: the ids of its subscribers. */
  private readonly subscribers = new Map<string, Set<string>>();

  constructor(private readonly table: SubscriptionTable) {}

  /** To be called when a subscriber gets its first subscription. */
  add({ id, linkOwnerId: owner = id }: Subscriber): void {
    if (owner === id) return;
    this.owners.set(id, owner);
    const subscribers = this.subscribers.get(owner);
    if (subscribers) subscribers.add(id);
    else this.subscribers.set(owner, new Set([id]));
  }

  /** To be called when the last subscription of a subscriber has ended. */
  remove(subscriber: string): void {
    const owner = this.owners.get(subscriber);
    if (owner === undefined) return;
    this.owners.delete(subscriber);
    const subscribers = this.subscribers.get(owner);
    subscribers?.delete(subscriber);
    if (subscribers?.size === 0) this.subscribers.delete(owner);
  }

  ownerOf({ subscriber }: Pick<Subscription, 'subscriber'>): string {
    return this.owners.get(subscriber) ?? subscriber;
  }

  /** The ids of the subscribers whose subscriptions are made over the links of this owner. */
  subscribersOf(owner: string): Iterable<string> {
    return this.subscribers.get(owner) ?? [owner];
  }

  /** The subscriptions that are made over the link of this owner to the server. */
  *of(server: string, owner: string): Generator<Subscription, void, undefined> {
    for (const subscriber of this.subscribersOf(owner))
      for (const row of this.table.ofSubscriber(subscriber)) if (row.server === server) yield row;
  }
}
