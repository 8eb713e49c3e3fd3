import type { SubscriptionTable } from './subscription-table.js';
import type { Subscription, SubscriptionTarget } from './subscription-target.js';

/** What a part-resource storm may cost a subscription that is not acknowledged yet; the oldest gives way. */
const MOST_HELD = 1000;

/**
 * Brings an update to whom it is for. A server may send one before, or together with, its answer to the subscribe
 * request: such an update is held until the subscriber has its acknowledgement, and comes right after it.
 */
export class UpdateRouting<U> {
  /** By the subscription's id: the latest update of each URI, in the order in which they came. */
  private readonly unacknowledged = new Map<string, Map<string, U>>();

  constructor(
    private readonly table: SubscriptionTable,
    /** An update that was held gives way to a later one of the same resource, or to those of others. */
    private readonly gaveWay: (to: 'coalesced' | 'dropped') => void = () => {},
  ) {}

  /** From here on updates for the subscription are held. Ends with `acknowledged` or `abandoned`. */
  expectAcknowledgement(id: string): void {
    if (!this.unacknowledged.has(id)) this.unacknowledged.set(id, new Map());
  }

  /** What was held. Call it when the acknowledgement has been written; what comes later is delivered directly. */
  acknowledged(id: string): Iterable<U> {
    const held = this.unacknowledged.get(id);
    this.unacknowledged.delete(id);
    return held?.values() ?? [];
  }

  abandoned(id: string): void {
    this.unacknowledged.delete(id);
  }

  /** Settles whom it is for: each subscriber once, however many of its subscriptions cover the URI. */
  route(
    server: string,
    uri: string,
    update: U,
    /** The one subscriber that it is for; absent when it is for all. */
    only?: string,
  ): Route {
    const covering = this.table.covering(server, uri);
    const targets = covering.length > 1 ? covering.toSorted((a, b) => a.size - b.size) : covering;
    // The widest comes last: only those served before it have to be remembered.
    const widest = targets.at(-1);
    const due: Subscription[] = [];
    const served = targets.length > 1 ? new Set<string>() : undefined;
    let held = 0;
    for (const target of targets) {
      for (const subscription of subscriptionsOf(target, only)) {
        const { id, subscriber } = subscription;
        // What was held for this one as well is old news now.
        if (served?.has(subscriber)) this.giveWay(id, uri);
        else if (this.hold(id, uri, update)) held++;
        else due.push(subscription);
      }
      if (target !== widest) for (const { subscriber } of due) served?.add(subscriber);
    }
    return new Route(this.table, due, held);
  }

  private hold(id: string, uri: string, update: U): boolean {
    const held = this.unacknowledged.get(id);
    if (!held) return false;
    this.giveWay(id, uri);
    held.set(uri, update);
    const [oldest] = held.size > MOST_HELD ? held.keys() : [];
    if (oldest !== undefined && held.delete(oldest)) this.gaveWay('dropped');
    return true;
  }

  private giveWay(id: string, uri: string): void {
    if (this.unacknowledged.get(id)?.delete(uri)) this.gaveWay('coalesced');
  }
}

/** Whom an update goes to, one after the other and with any time between them. */
export class Route {
  private at = 0;
  /** Those it is for, or was held for, except who has left. None means that nobody wants it. */
  reached: number;

  constructor(
    private readonly table: SubscriptionTable,
    private readonly due: readonly Subscription[],
    held: number,
  ) {
    this.reached = due.length + held;
  }

  /** The next who has not left meanwhile. */
  next(): Subscription | undefined {
    while (this.at < this.due.length) {
      const subscription = this.due[this.at++]!;
      if (this.table.get(subscription.id) === subscription) return subscription;
      this.reached--;
    }
    return undefined;
  }
}

function subscriptionsOf(target: SubscriptionTarget, only: string | undefined): Iterable<Subscription> {
  if (only === undefined) return target;
  const subscription = target.of(only);
  return subscription ? [subscription] : [];
}
