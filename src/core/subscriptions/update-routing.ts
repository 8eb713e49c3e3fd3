import type { SubscriptionTable } from './subscription-table.js';
import type { Subscription, SubscriptionTarget } from './subscription-target.js';

/** Maximum number of updates that are held for one subscription. If there are more, the oldest is dropped. */
const MAX_HELD_UPDATES = 1000;

/**
 * An update that is held for one subscriber. Several unacknowledged subscriptions of the subscriber share this object.
 */
interface HeldUpdate<U> {
  readonly update: U;
  isDelivered: boolean;
}

/**
 * Finds the subscriptions to which an update is delivered. A server may send an update before its response to the
 * subscribe request, or together with it. Such an update is held until the acknowledgement has been written to the
 * subscriber, and delivered after it.
 */
export class UpdateRouting<U> {
  /** By id of each unacknowledged subscription, then by URI: its held updates, oldest first. */
  private readonly heldUpdates = new Map<string, Map<string, HeldUpdate<U>>>();

  constructor(
    private readonly table: SubscriptionTable,
    /**
     * Called when a held update is replaced by a later one of the same resource, or dropped because too many are held.
     */
    private readonly onHeldRemoved: (outcome: 'coalesced' | 'dropped') => void = () => {},
  ) {}

  /** Holds updates for the subscription, until `acknowledged` or `abandoned` is called. */
  expectAcknowledgement(id: string): void {
    if (!this.heldUpdates.has(id)) this.heldUpdates.set(id, new Map());
  }

  /**
   * Returns the held updates, except those that the subscriber got through another subscription. Call it when the
   * acknowledgement has been written; later updates are not held.
   */
  acknowledged(id: string): readonly U[] {
    const held = [...(this.heldUpdates.get(id)?.values() ?? [])];
    const undelivered = held.filter(({ isDelivered }) => !isDelivered);
    this.heldUpdates.delete(id);
    for (const heldUpdate of undelivered) heldUpdate.isDelivered = true;
    return undelivered.map(({ update }) => update);
  }

  /** The subscription failed or ended without an acknowledgement. Drops the held updates. */
  abandoned(id: string): void {
    this.heldUpdates.delete(id);
  }

  /**
   * Yields the subscriptions to which the update has to be delivered now: one per subscriber, and none that has ended
   * since `route` was called. Returns the number of subscribers that get the update now or after an acknowledgement.
   * `onlySubscribers` are ids of subscribers: if given, all other subscribers are left out.
   */
  *route(
    server: string,
    uri: string,
    update: U,
    onlySubscribers?: Iterable<string>,
  ): Generator<Subscription, number, undefined> {
    const { acknowledged, heldBySubscriber } = this.holdOrCollect(server, uri, update, onlySubscribers);
    let reachedSubscribers = heldBySubscriber.size;
    for (const subscription of acknowledged) {
      if (this.table.get(subscription.id) !== subscription) continue;
      // Another subscription of the same subscriber may hold the update, and may have delivered it in the meantime.
      const heldUpdate = heldBySubscriber.get(subscription.subscriber);
      if (heldUpdate?.isDelivered) continue;
      if (heldUpdate) heldUpdate.isDelivered = true;
      else reachedSubscribers++;
      yield subscription;
    }
    return reachedSubscribers;
  }

  /** Holds the update for each unacknowledged subscription. Collects the other subscriptions, one per subscriber. */
  private holdOrCollect(
    server: string,
    uri: string,
    update: U,
    onlySubscribers: Iterable<string> | undefined,
  ) {
    const covering = this.table.covering(server, uri);
    const targets = covering.length > 1 ? covering.toSorted((a, b) => a.size - b.size) : covering;
    // The largest target comes last, so that its subscribers need not be added to `collectedSubscribers`.
    const largest = targets.at(-1);
    const acknowledged: Subscription[] = [];
    const collectedSubscribers = targets.length > 1 ? new Set<string>() : undefined;
    const heldBySubscriber = new Map<string, HeldUpdate<U>>();
    for (const target of targets) {
      for (const subscription of subscriptionsOf(target, onlySubscribers)) {
        const { id, subscriber } = subscription;
        // The subscriber gets this update through another subscription. The update replaces an earlier one held here.
        if (collectedSubscribers?.has(subscriber)) this.removeReplaced(id, uri);
        else if (this.heldUpdates.has(id)) {
          const heldUpdate = heldBySubscriber.get(subscriber) ?? { update, isDelivered: false };
          heldBySubscriber.set(subscriber, heldUpdate);
          this.hold(id, uri, heldUpdate);
        } else acknowledged.push(subscription);
      }
      if (target !== largest)
        for (const { subscriber } of acknowledged) collectedSubscribers?.add(subscriber);
    }
    return { acknowledged, heldBySubscriber };
  }

  private hold(id: string, uri: string, update: HeldUpdate<U>): void {
    const held = this.heldUpdates.get(id)!;
    this.removeReplaced(id, uri);
    held.set(uri, update);
    if (held.size > MAX_HELD_UPDATES) {
      const [oldest] = held.keys();
      held.delete(oldest!);
      this.onHeldRemoved('dropped');
    }
  }

  /** Removes a held update that a later one replaces. */
  private removeReplaced(id: string, uri: string): void {
    if (this.heldUpdates.get(id)?.delete(uri)) this.onHeldRemoved('coalesced');
  }
}

function subscriptionsOf(
  target: SubscriptionTarget,
  subscribers: Iterable<string> | undefined,
): Iterable<Subscription> {
  return subscribers
    ? Array.from(subscribers, (id) => target.subscriptionOf(id)).filter((row) => row !== undefined)
    : target.subscriptions;
}
