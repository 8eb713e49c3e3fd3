import type { SubscribedTarget, Subscription, SubscriptionTarget } from './subscription-target.js';
import { TargetIndex } from './target-index.js';

/** What a subscriber asks for. */
export type NewSubscription = Omit<Subscription, 'id' | 'since'>;

export interface AddedSubscription {
  readonly subscription: Subscription;
  /** False when the subscriber had it already. */
  readonly isNew: boolean;
  /** Nobody had it before: the server has to be told. */
  readonly isFirst: boolean;
}

export interface RemovedSubscription {
  readonly subscription: Subscription;
  /** Nobody has it any more: the server may be told. */
  readonly wasLast: boolean;
}

/**
 * Who wants what. Synchronous on purpose: one call is one step of the event loop, so that a check of the counts and
 * the `add` after it are never interrupted. Finding, adding and removing one costs the same whatever the size.
 */
export class SubscriptionTable {
  private readonly byId = new Map<string, Subscription>();
  private readonly bySubscriber = new Map<string, Set<Subscription>>();
  private readonly byServer = new Map<string, TargetIndex>();
  private readonly principals = new Map<string, number>();

  constructor(private readonly newId: () => string) {}

  get size(): number {
    return this.byId.size;
  }

  countOfSubscriber(subscriber: string): number {
    return this.bySubscriber.get(subscriber)?.size ?? 0;
  }

  countOfPrincipal(principal: string): number {
    return this.principals.get(principal) ?? 0;
  }

  countOfServer(server: string): number {
    return this.byServer.get(server)?.subscriptions ?? 0;
  }

  get(id: string): Subscription | undefined {
    return this.byId.get(id);
  }

  find({
    subscriber,
    server,
    uri,
  }: Pick<NewSubscription, 'subscriber' | 'server' | 'uri'>): Subscription | undefined {
    return this.target(server, uri)?.of(subscriber);
  }

  target(server: string, uri: string): SubscriptionTarget | undefined {
    return this.byServer.get(server)?.get(uri);
  }

  /** Whether somebody wants this very resource, by its URI or by a pattern. */
  isWanted(server: string, uri: string): boolean {
    return this.byServer.get(server)?.isWanted(uri) ?? false;
  }

  /** Every target that an update of `uri` is for: the resource, what it is a part of, and patterns. */
  covering(server: string, uri: string): readonly SubscriptionTarget[] {
    return this.byServer.get(server)?.covering(uri) ?? [];
  }

  /** How many subscribers hear of an update of `uri`, each counted once. */
  countOfRecipients(server: string, uri: string): number {
    const targets = this.covering(server, uri);
    // Within one target nobody is twice.
    if (targets.length < 2) return targets[0]?.size ?? 0;
    const hearers = new Set<string>();
    for (const target of targets) target.forEach(({ subscriber }) => hearers.add(subscriber));
    return hearers.size;
  }

  ofSubscriber(subscriber: string): Iterable<Subscription> {
    return this.bySubscriber.get(subscriber) ?? [];
  }

  targetsOf(server: string): Iterable<SubscriptionTarget> {
    return this.byServer.get(server) ?? [];
  }

  /** The servers that something is wanted of. */
  get servers(): Iterable<string> {
    return this.byServer.keys();
  }

  /** Everything, the oldest row first. */
  [Symbol.iterator](): Iterator<Subscription, unknown> {
    return this.byId.values();
  }

  /** Idempotent. */
  add(asked: NewSubscription, since: number): AddedSubscription {
    const { subscriber, principal, server, uri } = asked;
    const existing = this.find(asked);
    if (existing) return { subscription: existing, isNew: false, isFirst: false };
    return this.insert({ id: this.freshId(), subscriber, principal, server, uri, since });
  }

  /** Adds a subscription of an earlier life, which keeps its id unless that is taken. */
  restore(subscription: Subscription): AddedSubscription {
    const existing = this.find(subscription);
    if (existing) return { subscription: existing, isNew: false, isFirst: false };
    const taken = this.byId.has(subscription.id);
    return this.insert(taken ? { ...subscription, id: this.freshId() } : subscription);
  }

  /** Undefined when there was none. */
  remove(asked: Pick<NewSubscription, 'subscriber' | 'server' | 'uri'>): RemovedSubscription | undefined {
    const subscription = this.find(asked);
    return subscription && this.take(subscription);
  }

  removeById(id: string): RemovedSubscription | undefined {
    const subscription = this.byId.get(id);
    return subscription && this.take(subscription);
  }

  /** Costs what the subscriber had. */
  removeSubscriber(subscriber: string): RemovedSubscription[] {
    return Array.from(this.ofSubscriber(subscriber), (subscription) => this.take(subscription));
  }

  /** Costs what was wanted of the server. */
  removeServer(server: string): RemovedSubscription[] {
    const removed: RemovedSubscription[] = [];
    // The targets first: taking the last subscription of one changes what is being walked through.
    for (const target of Array.from(this.targetsOf(server))) {
      target.forEach((subscription) => removed.push(this.take(subscription)));
    }
    return removed;
  }

  private insert(subscription: Subscription): AddedSubscription {
    const { id, subscriber, principal, server, uri } = subscription;
    const index = this.byServer.get(server) ?? this.openServer(server);
    const target = index.get(uri) ?? index.open(uri);
    target.put(subscription);
    index.subscriptions++;
    this.byId.set(id, subscription);
    const own = this.bySubscriber.get(subscriber);
    if (own) own.add(subscription);
    else this.bySubscriber.set(subscriber, new Set([subscription]));
    if (principal !== undefined) this.principals.set(principal, this.countOfPrincipal(principal) + 1);
    return { subscription, isNew: true, isFirst: target.size === 1 };
  }

  private take(subscription: Subscription): RemovedSubscription {
    const { id, subscriber, principal, server, uri } = subscription;
    this.byId.delete(id);
    const own = this.bySubscriber.get(subscriber);
    own?.delete(subscription);
    if (own?.size === 0) this.bySubscriber.delete(subscriber);
    if (principal !== undefined) this.leavePrincipal(principal);
    const index = this.byServer.get(server);
    const target = index?.get(uri);
    return { subscription, wasLast: index && target ? this.leave(index, target, subscription) : false };
  }

  /** True when the target is gone with its last subscriber. */
  private leave(index: TargetIndex, target: SubscribedTarget, subscription: Subscription): boolean {
    target.drop(subscription);
    index.subscriptions--;
    if (target.size > 0) return false;
    index.close(target);
    if (index.subscriptions === 0) this.byServer.delete(subscription.server);
    return true;
  }

  private leavePrincipal(principal: string): void {
    const left = this.countOfPrincipal(principal) - 1;
    if (left > 0) this.principals.set(principal, left);
    else this.principals.delete(principal);
  }

  private openServer(server: string): TargetIndex {
    const index = new TargetIndex(server);
    this.byServer.set(server, index);
    return index;
  }

  private freshId(): string {
    let id = this.newId();
    while (this.byId.has(id)) id = this.newId();
    return id;
  }
}
