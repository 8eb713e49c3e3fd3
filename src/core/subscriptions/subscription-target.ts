import type { ResourcePattern } from '../resources/resource-pattern.js';

/** Somebody's wish to hear of changes. Unsubscribing takes the target or the id. */
export interface Subscription {
  readonly id: string;
  /** A session, or a listen stream. */
  readonly subscriber: string;
  /** On whose account; absent where nobody has to say who they are. */
  readonly principal: string | undefined;
  readonly server: string;
  /** As the server itself calls the resource; or a pattern of such URIs. */
  readonly uri: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** What one or more subscribers want of a server. There is none without a subscriber. */
export interface SubscriptionTarget {
  readonly server: string;
  readonly uri: string;
  /** Absent for a single resource. */
  readonly pattern: ResourcePattern | undefined;
  readonly size: number;
  of(subscriber: string): Subscription | undefined;
  /** Allocates nothing. `visit` may add and remove anybody: who has left is not met any more. */
  forEach(visit: (subscription: Subscription) => void): void;
  /** The same, for those who stop on the way. */
  [Symbol.iterator](): Iterator<Subscription>;
}

/** The only implementation; what changes it is for the table. */
export class SubscribedTarget implements SubscriptionTarget {
  /** Most targets have one subscriber, for which a Map would cost several times what it holds. */
  private only: Subscription | undefined;
  private many: Map<string, Subscription> | undefined;

  constructor(
    readonly server: string,
    readonly uri: string,
    readonly pattern: ResourcePattern | undefined,
  ) {}

  get size(): number {
    return this.many ? this.many.size : Number(this.only !== undefined);
  }

  of(subscriber: string): Subscription | undefined {
    if (this.many) return this.many.get(subscriber);
    return this.only?.subscriber === subscriber ? this.only : undefined;
  }

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
    // A Map stays one, so that a walk through it sees who leaves.
    if (this.many) this.many.delete(subscription.subscriber);
    else this.only = undefined;
  }
}
