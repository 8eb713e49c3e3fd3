import type { SubscribableAddress } from '../resources/resource-pattern.js';
import { TargetIndex, type Subscription, type SubscriptionTarget } from './subscription-target.js';

export type NewSubscription = Omit<Subscription, 'id' | 'since'>;

export interface AddedSubscription {
  readonly subscription: Subscription;
  /** False when the subscriber had the subscription already. */
  readonly isNew: boolean;
  /** Whether this is the first subscription to its target. */
  readonly isFirst: boolean;
}

export interface RemovedSubscription {
  readonly subscription: Subscription;
  /** Whether this was the last subscription to its target. */
  readonly wasLast: boolean;
}

/**
 * All subscriptions of all clients. A target is a resource or pattern to which they subscribe. All methods are
 * synchronous, so that no other code runs between a check of the counts and the `add` after it. Finding, adding and
 * removing a subscription takes constant time.
 */
export class SubscriptionTable {
  private readonly byId = new Map<string, Subscription>();
  private readonly bySubscriber = new Map<string, Set<Subscription>>();
  private readonly byServer = new Map<string, TargetIndex>();
  private readonly countByPrincipal = new Map<string, number>();

  constructor(private readonly newId: () => string) {}

  get size(): number {
    return this.byId.size;
  }

  countOfSubscriber(subscriber: string): number {
    return this.bySubscriber.get(subscriber)?.size ?? 0;
  }

  countOfPrincipal(principal: string): number {
    return this.countByPrincipal.get(principal) ?? 0;
  }

  countOfServer(server: string): number {
    return this.byServer.get(server)?.subscriptionCount ?? 0;
  }

  get(id: string): Subscription | undefined {
    return this.byId.get(id);
  }

  /**
   * The row of the subscriber for this URI. There is at most one: if a resource has a URI in the form of a pattern, the
   * row is either for the resource or for the pattern.
   */
  find({
    subscriber,
    server,
    uri,
  }: Pick<NewSubscription, 'subscriber' | 'server' | 'uri'>): Subscription | undefined {
    const index = this.byServer.get(server);
    return (
      index?.resource(uri)?.subscriptionOf(subscriber) ?? index?.pattern(uri)?.subscriptionOf(subscriber)
    );
  }

  /** The target that is exactly this resource, if it has subscriptions. */
  resource(server: string, uri: string): SubscriptionTarget | undefined {
    return this.byServer.get(server)?.resource(uri);
  }

  /** The target with this address, if it has subscriptions. */
  targetAt(address: SubscribableAddress): SubscriptionTarget | undefined {
    return this.byServer.get(address.server)?.at(address);
  }

  hasPatterns(server: string): boolean {
    return this.byServer.get(server)?.hasPatterns ?? false;
  }

  /** Whether there is a subscription to this URI, or to a pattern that matches it. */
  isWanted(server: string, uri: string): boolean {
    return this.byServer.get(server)?.isWanted(uri) ?? false;
  }

  /** Every target whose subscribers get an update of `uri`: the resource, resources that contain it, and patterns. */
  covering(server: string, uri: string): readonly SubscriptionTarget[] {
    return this.byServer.get(server)?.covering(uri) ?? [];
  }

  /** The targets of single resources whose URIs have this normal form. */
  equivalentTargets(server: string, normalUri: string): readonly SubscriptionTarget[] {
    return this.byServer.get(server)?.equivalentTo(normalUri) ?? [];
  }

  /** How many subscribers get an update of `uri`. */
  countOfRecipients(server: string, uri: string): number {
    const targets = this.covering(server, uri);
    // A subscriber has at most one subscription to a target.
    if (targets.length < 2) return targets[0]?.size ?? 0;
    const recipients = new Set<string>();
    for (const target of targets) target.forEach(({ subscriber }) => recipients.add(subscriber));
    return recipients.size;
  }

  ofSubscriber(subscriber: string): Iterable<Subscription> {
    return this.bySubscriber.get(subscriber) ?? [];
  }

  targetsOf(server: string): Iterable<SubscriptionTarget> {
    return this.byServer.get(server) ?? [];
  }

  /** The servers that have subscriptions. */
  get servers(): Iterable<string> {
    return this.byServer.keys();
  }

  /** Oldest first. */
  [Symbol.iterator](): Iterator<Subscription, unknown> {
    return this.byId.values();
  }

  /** Adds a subscription. Returns the existing one if the subscriber has it already. */
  add(wanted: NewSubscription, since: number): AddedSubscription {
    const existing = this.find(wanted);
    if (existing) return { subscription: existing, isNew: false, isFirst: false };
    return this.insert({ id: this.unusedId(), ...wanted, since });
  }

  /** Adds a subscription of a previous process. It keeps its id unless another subscription has the same id. */
  restore(subscription: Subscription): AddedSubscription {
    const existing = this.find(subscription);
    if (existing) return { subscription: existing, isNew: false, isFirst: false };
    const isIdUsed = this.byId.has(subscription.id);
    return this.insert(isIdUsed ? { ...subscription, id: this.unusedId() } : subscription);
  }

  /** Removes the row of a subscriber for a URI. Returns undefined if there was no such row. */
  remove(wanted: Pick<NewSubscription, 'subscriber' | 'server' | 'uri'>): RemovedSubscription | undefined {
    const subscription = this.find(wanted);
    return subscription && this.delete(subscription);
  }

  /** From now on, the subscriptions of the subscriber count for this principal; for none if it is undefined. */
  setPrincipal(subscriber: string, principal: string | undefined): void {
    // The cast makes the rows writable: only the table changes them.
    for (const row of this.ofSubscriber(subscriber) as Iterable<{ principal: string | undefined }>) {
      this.countForPrincipal(row.principal, -1);
      row.principal = principal;
      this.countForPrincipal(principal, 1);
    }
  }

  removeById(id: string): RemovedSubscription | undefined {
    const subscription = this.byId.get(id);
    return subscription && this.delete(subscription);
  }

  removeSubscriber(subscriber: string): RemovedSubscription[] {
    return Array.from(this.ofSubscriber(subscriber), (subscription) => this.delete(subscription));
  }

  removeServer(server: string): RemovedSubscription[] {
    const removed: RemovedSubscription[] = [];
    // Iterates over a copy, because removing the last subscription of a target changes the index.
    for (const target of Array.from(this.targetsOf(server))) {
      target.forEach((subscription) => removed.push(this.delete(subscription)));
    }
    return removed;
  }

  private insert(subscription: Subscription): AddedSubscription {
    const { id, subscriber, principal, server } = subscription;
    const index = this.byServer.get(server) ?? this.addServer(server);
    const target = index.at(subscription) ?? index.add(subscription);
    target.put(subscription);
    index.subscriptionCount++;
    this.byId.set(id, subscription);
    const rows = this.bySubscriber.get(subscriber);
    if (rows) rows.add(subscription);
    else this.bySubscriber.set(subscriber, new Set([subscription]));
    this.countForPrincipal(principal, 1);
    return { subscription, isNew: true, isFirst: target.size === 1 };
  }

  private delete(subscription: Subscription): RemovedSubscription {
    const { id, subscriber, principal, server } = subscription;
    this.byId.delete(id);
    const rows = this.bySubscriber.get(subscriber);
    rows?.delete(subscription);
    if (rows?.size === 0) this.bySubscriber.delete(subscriber);
    this.countForPrincipal(principal, -1);
    const index = this.byServer.get(server);
    const target = index?.at(subscription);
    return { subscription, wasLast: index && target ? this.deleteFrom(index, target, subscription) : false };
  }

  /** Returns whether this was the last subscription of the target. */
  private deleteFrom(index: TargetIndex, target: SubscriptionTarget, subscription: Subscription): boolean {
    target.drop(subscription);
    index.subscriptionCount--;
    if (target.size > 0) return false;
    index.delete(target);
    if (index.subscriptionCount === 0) this.byServer.delete(subscription.server);
    return true;
  }

  private countForPrincipal(principal: string | undefined, change: 1 | -1): void {
    if (principal === undefined) return;
    const count = this.countOfPrincipal(principal) + change;
    if (count > 0) this.countByPrincipal.set(principal, count);
    else this.countByPrincipal.delete(principal);
  }

  private addServer(server: string): TargetIndex {
    const index = new TargetIndex(server);
    this.byServer.set(server, index);
    return index;
  }

  private unusedId(): string {
    let id = this.newId();
    while (this.byId.has(id)) id = this.newId();
    return id;
  }
}
