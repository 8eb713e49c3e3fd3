import type { SubscriptionTable } from './subscription-table.js';
import type { Subscription, SubscriptionTarget } from './subscription-target.js';

/** Maximum updates that are held for one subscription; beyond it the oldest is dropped. */
const MAX_HELD = 1000;

/** A held update of one subscriber. Several unacknowledged subscriptions of the subscriber may hold the same one. */
interface HeldUpdate<U> {
  readonly update: U;
  isDelivered: boolean;
}

/**
 * Finds the subscriptions that an update is for. A server may send an update before, or together with, its response to
 * the subscribe request: such an update is held until the subscriber has the acknowledgement, and follows it.
 */
export class UpdateRouting<U> {
  /** The held updates, by id of the subscription and URI, oldest first. */
  private readonly unacknowledged = new Map<string, Map<string, HeldUpdate<U>>>();

  constructor(
    private readonly table: SubscriptionTable,
    /** A held update was replaced by a later one of the same resource, or dropped because too many are held. */
    private readonly onHeldRemoved: (outcome: 'coalesced' | 'dropped') => void = () => {},
  ) {}

  /** Holds updates for the subscription, until `acknowledged` or `abandoned` is called. */
  expectAcknowledgement(id: string): void {
    if (!this.unacknowledged.has(id)) this.unacknowledged.set(id, new Map());
  }

  /**
   * Returns the held updates, except those that the subscriber got through another subscription. Call it when the
   * acknowledgement has been written; later updates are not held.
   */
  acknowledged(id: string): readonly U[] {
    const held = [...(this.unacknowledged.get(id)?.values() ?? [])].filter(({ isDelivered }) => !isDelivered);
    this.unacknowledged.delete(id);
    for (const heldUpdate of held) heldUpdate.isDelivered = true;
    return held.map(({ update }) => update);
  }

  /** The subscription failed or ended without an acknowledgement. Drops the held updates. */
  abandoned(id: string): void {
    this.unacknowledged.delete(id);
  }

  /**
   * Yields the subscriptions to deliver the update to, one per subscriber, except those that have ended meanwhile.
   * Returns the number of subscribers that get the update now or later. With `subscribers`, ids of subscribers, all others are
   * left out.
   */
  *route(
    server: string,
    uri: string,
    update: U,
    subscribers?: Iterable<string>,
  ): Generator<Subscription, number, undefined> {
    const { due, held } = this.findDue(server, uri, update, subscribers);
    let reached = held.size;
    for (const subscription of due) {
      if (this.table.get(subscription.id) !== subscription) continue;
      // Another subscription of the same subscriber may hold the update, and may have delivered it meanwhile.
      const heldUpdate = held.get(subscription.subscriber);
      if (heldUpdate?.isDelivered) continue;
      if (heldUpdate) heldUpdate.isDelivered = true;
      else reached++;
      yield subscription;
    }
    return reached;
  }

  private findDue(server: string, uri: string, update: U, subscribers: Iterable<string> | undefined) {
    const covering = this.table.covering(server, uri);
    const targets = covering.length > 1 ? covering.toSorted((a, b) => a.size - b.size) : covering;
    // The largest target comes last, so that its subscribers need not be added to `served`.
    const largest = targets.at(-1);
    const due: Subscription[] = [];
    const served = targets.length > 1 ? new Set<string>() : undefined;
    /** By subscriber. */
    const held = new Map<string, HeldUpdate<U>>();
    for (const target of targets) {
      for (const subscription of subscriptionsOf(target, subscribers)) {
        const { id, subscriber } = subscription;
        // An earlier update that is held for this subscription is superseded by the delivery through another one.
        if (served?.has(subscriber)) this.supersede(id, uri);
        else if (this.unacknowledged.has(id)) {
          const heldUpdate = held.get(subscriber) ?? { update, isDelivered: false };
          held.set(subscriber, heldUpdate);
          this.hold(id, uri, heldUpdate);
        } else due.push(subscription);
      }
      if (target !== largest) for (const { subscriber } of due) served?.add(subscriber);
    }
    return { due, held };
  }

  private hold(id: string, uri: string, update: HeldUpdate<U>): void {
    const held = this.unacknowledged.get(id)!;
    this.supersede(id, uri);
    held.set(uri, update);
    if (held.size > MAX_HELD) {
      const [oldest] = held.keys();
      held.delete(oldest!);
      this.onHeldRemoved('dropped');
    }
  }

  /** Removes a held update that a later one replaces. */
  private supersede(id: string, uri: string): void {
    if (this.unacknowledged.get(id)?.delete(uri)) this.onHeldRemoved('coalesced');
  }
}

function subscriptionsOf(
  target: SubscriptionTarget,
  subscribers: Iterable<string> | undefined,
): Iterable<Subscription> {
  return subscribers
    ? Array.from(subscribers, (id) => target.subscriptionOf(id)).filter((row) => row !== undefined)
    : target;
}
