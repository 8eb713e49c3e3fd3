import type { ResourcePattern } from '../resources/resource-pattern.js';

/** A row of the subscription table: one subscriber gets the updates of one target. */
export interface Subscription {
  readonly id: string;
  /** The id of a session or a listen stream. */
  readonly subscriber: string;
  /** The principal that the subscription is counted for; undefined without authentication. */
  readonly principal: string | undefined;
  readonly server: string;
  /** The own URI of a resource, or a pattern of own URIs. */
  readonly uri: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** A resource or pattern of a server, with its subscriptions. Only the subscription table changes it. */
export class SubscriptionTarget {
  /** Most targets have one subscription, for which a Map would take several times the memory. */
  private only: Subscription | undefined;
  private many: Map<string, Subscription> | undefined;

  constructor(
    readonly server: string,
    readonly uri: string,
    /** Undefined for a single resource. */
    readonly pattern: ResourcePattern | undefined,
  ) {}

  get size(): number {
    return this.many ? this.many.size : Number(this.only !== undefined);
  }

  of(subscriber: string): Subscription | undefined {
    if (this.many) return this.many.get(subscriber);
    return this.only?.subscriber === subscriber ? this.only : undefined;
  }

  /** Allocates nothing. `visit` may add and remove subscriptions; those removed before their turn are not visited. */
  forEach(visit: (subscription: Subscription) => void): void {
    if (this.many) this.many.forEach(visit);
    else if (this.only) visit(this.only);
  }

  [Symbol.iterator](): Iterator<Subscription> {
    return (this.many ?? (this.only ? [this.only] : [])).values();
  }

  put(subscription: Subscription): void {
    if (!this.many && this.only) {
      this.many = new Map([[this.only.subscriber, this.only]]);
      this.only = undefined;
    }
    if (this.many) this.many.set(subscription.subscriber, subscription);
    else this.only = subscription;
  }

  drop(subscription: Subscription): void {
    // The Map is kept, so that iterations in progress see the removal.
    if (this.many) this.many.delete(subscription.subscriber);
    else this.only = undefined;
  }
}
