import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { limitExceeded } from '../core/errors.js';
import {
  addWithinLimits,
  findReachedLimit,
  type ReachedLimit,
  type SubscriptionLimits,
} from '../core/subscriptions/subscription-limits.js';
import type { SubscribableAddress } from '../core/resources/resource-pattern.js';
import {
  SubscriptionTable,
  type AddedSubscription,
  type NewSubscription,
  type RemovedSubscription,
} from '../core/subscriptions/subscription-table.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import type { Subscriber } from '../mcp/mcp-context.js';
import { ANONYMOUS } from '../mcp/principal.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';
import { runSliced, type Steps } from '../lib/slices/run-sliced.js';
import { sliceScheduler, type Yield } from '../lib/slices/slices.js';
import { SubscriptionsByLinkOwner } from './subscriptions-by-link-owner.js';

/** `isAdded` is false if the subscription was removed. */
type ChangeListener = (subscription: Subscription, subscriber: Subscriber, isAdded: boolean) => void;
type RemoveListener = (subscription: Subscription, subscriber: Subscriber) => void;
type MissedEventsListener = (subscriber: Subscriber, queuedKeys: ReadonlySet<string>) => void;
/** `access lost`: the server left the scope of the subscriber. */
type EndReason = 'session closed' | 'access lost';
type EndListener = (removed: readonly RemovedSubscription[], reason: EndReason) => void;

/** A subscription as the previous process stored it. */
export type RestorableSubscription = SubscribableAddress & Pick<Subscription, 'id' | 'since'>;

interface ObservedSubscriber {
  readonly subscriber: Subscriber;
  /** Removes the listeners that this file adds to the subscriber. */
  stopObserving(): void;
}

/**
 * The maximum number of URIs in one listen request is this factor times the maximum number of subscriptions of one
 * subscriber. It is higher because URIs that lead to no resource are left out.
 */
const NAMED_URIS_FACTOR = 10;

/** The error message of each limit. */
const LIMIT_MESSAGES: Readonly<Record<ReachedLimit['which'], (limit: number) => string>> = {
  perSubscriber: (limit) => `a session or listen stream may have at most ${limit} subscriptions`,
  perPrincipal: (limit) =>
    `all sessions and listen streams of a principal together may have at most ${limit} subscriptions`,
  perServer: (limit) => `all clients together may have at most ${limit} subscriptions to one server`,
  total: (limit) => `all clients together may have at most ${limit} subscriptions`,
};

/**
 * The subscription table together with the subscribers of its rows. Removes the rows of a subscriber that is closed,
 * and the rows to servers that leave the scope of their subscriber.
 *
 * Listeners: `onChange` is called for every row that is added or removed. `onRemove` is called for every removed row,
 * before `onChange`. `onEnd` is called once for all rows that are removed because a subscriber was closed or lost
 * access, after `onRemove` and `onChange` were called for each of these rows.
 */
@Injectable()
export class Subscribers {
  // An id that starts with a dash would be read as an option on a command line.
  readonly table = new SubscriptionTable(() => randomBytes(9).toString('base64url').replace(/^-/, '_'));
  readonly owned = new SubscriptionsByLinkOwner(this.table);
  /** By id: the subscribers that have subscriptions. */
  private readonly observed = new Map<string, ObservedSubscriber>();
  private readonly changeListeners = new ListenerSet<Parameters<ChangeListener>>();
  private readonly removeListeners = new ListenerSet<Parameters<RemoveListener>>();
  private readonly missedEventsListeners = new ListenerSet<Parameters<MissedEventsListener>>();
  private readonly endListeners = new ListenerSet<Parameters<EndListener>>();
  /** Subscribers whose scope has changed, and whose rows have not been checked since then. */
  private readonly unchecked = new Set<Subscriber>();
  private isChecking = false;
  /**
   * All checks of one event-loop iteration share one slice, because a change of a project changes the scopes of many
   * subscribers at once.
   */
  private slice: Yield | undefined;
  private readonly limits: SubscriptionLimits;
  /** Set by SessionPersistence. Resolves when all subscriptions are on disk, or after a timeout; never rejects. */
  waitUntilPersisted: () => Promise<void> = () => Promise.resolve();

  constructor(limits: Limits) {
    this.limits = {
      perSubscriber: limits.subscriptionsPerClient,
      perPrincipal: limits.subscriptionsPerPrincipal,
      perServer: limits.subscriptionsPerServer,
      total: limits.subscriptions,
    };
  }

  onChange(listener: ChangeListener): () => void {
    return this.changeListeners.add(listener);
  }

  onRemove(listener: RemoveListener): void {
    this.removeListeners.add(listener);
  }

  /**
   * Calls the listener when a subscriber may have missed events. `queuedKeys` contains the keys of the events in its
   * queue, which it will still get.
   */
  onMissedEvents(listener: MissedEventsListener): void {
    this.missedEventsListeners.add(listener);
  }

  onEnd(listener: EndListener): void {
    this.endListeners.add(listener);
  }

  subscriberOf(subscription: Subscription): Subscriber | undefined {
    return this.observed.get(subscription.subscriber)?.subscriber;
  }

  /** Number of subscriptions whose clients have no stream open. */
  get countWithoutStream(): number {
    let count = 0;
    for (const [id, { subscriber }] of this.observed)
      if (!subscriber.hasStream) count += this.table.countOfSubscriber(id);
    return count;
  }

  /** Throws if one request names too many URIs. */
  requireFewUris(count: number): void {
    const limit = NAMED_URIS_FACTOR * this.limits.perSubscriber;
    if (count > limit) throw limitExceeded(`a listen stream may name at most ${limit} URIs`, limit);
  }

  /** Throws if a limit does not allow the subscription. */
  requireWithinLimits(subscriber: Subscriber, address: SubscribableAddress): void {
    const reached = findReachedLimit(this.table, newSubscription(subscriber, address), this.limits);
    if (reached) throw limitError(reached);
  }

  /** Adds a subscription, or returns the existing one. Throws if a limit is reached. */
  add(subscriber: Subscriber, address: SubscribableAddress): AddedSubscription {
    const added = addWithinLimits(this.table, newSubscription(subscriber, address), this.limits, Date.now());
    if ('which' in added) throw limitError(added);
    if (added.isNew) this.announceAdded(subscriber, added.subscription);
    return added;
  }

  /**
   * Adds a subscription of a previous process. Returns undefined if the scope or a limit does not allow it any more.
   */
  restore(
    subscriber: Subscriber,
    { id, since, ...address }: RestorableSubscription,
  ): AddedSubscription | undefined {
    const wanted = newSubscription(subscriber, address);
    if (!subscriber.scope.allows(address.server) || findReachedLimit(this.table, wanted, this.limits))
      return undefined;
    const added = this.table.restore({ ...wanted, id, since });
    if (added.isNew) this.announceAdded(subscriber, added.subscription);
    return added;
  }

  /** Removes a subscription. Returns undefined if there is none with this id. */
  remove(id: string): RemovedSubscription | undefined {
    const removed = this.table.removeById(id);
    if (!removed) return undefined;
    this.emitRemoved(removed);
    this.stopObservingIfLast(removed);
    return removed;
  }

  /** Call this when `quotaKey` of the subscriber has changed. Its subscriptions count under the new key from now on. */
  quotaKeyChanged(subscriber: Subscriber): void {
    this.table.setPrincipal(subscriber.id, countedPrincipal(subscriber));
  }

  private announceAdded(subscriber: Subscriber, subscription: Subscription): void {
    this.changeListeners.emit(subscription, subscriber, true);
    if (!this.observed.has(subscriber.id)) this.observe(subscriber);
  }

  private observe(subscriber: Subscriber): void {
    const removals: (() => void)[] = [];
    const { id } = subscriber;
    // Set before the listeners are added: `onClose` of a closed subscriber calls its listener at once.
    this.observed.set(id, { subscriber, stopObserving: () => removals.forEach((remove) => remove()) });
    this.owned.add(subscriber);
    removals.push(
      subscriber.onScopeChange(() => this.checkLater(subscriber)),
      subscriber.onMissedEvents((queuedKeys) => this.missedEventsListeners.emit(subscriber, queuedKeys)),
      subscriber.onClose(() => this.end([...this.table.ofSubscriber(id)], 'session closed')),
    );
  }

  /**
   * Ends the rows that the new scope does not allow, in slices. `ResourceUpdates` delivers no updates for these rows, even
   * before they have ended.
   */
  private checkLater(subscriber: Subscriber): void {
    this.unchecked.add(subscriber);
    if (this.isChecking) return;
    if (!this.slice) {
      this.slice = sliceScheduler.start();
      setImmediate(() => (this.slice = undefined));
    }
    void runSliced(this.endInaccessible(), this.slice);
  }

  private *endInaccessible(): Steps {
    this.isChecking = true;
    // The iteration includes subscribers that are added meanwhile.
    for (const subscriber of this.unchecked) {
      yield;
      this.unchecked.delete(subscriber);
      const rows = [...this.table.ofSubscriber(subscriber.id)];
      this.end(
        rows.filter(({ server }) => !subscriber.scope.allows(server)),
        'access lost',
      );
    }
    this.isChecking = false;
  }

  private end(subscriptions: readonly Subscription[], reason: EndReason): void {
    const removed = subscriptions.flatMap(({ id }) => this.remove(id) ?? []);
    this.endListeners.emit(removed, reason);
  }

  private emitRemoved({ subscription }: RemovedSubscription): void {
    const subscriber = this.subscriberOf(subscription);
    if (!subscriber) return;
    this.removeListeners.emit(subscription, subscriber);
    this.changeListeners.emit(subscription, subscriber, false);
  }

  private stopObservingIfLast({ subscription: { subscriber: subscriberId } }: RemovedSubscription): void {
    if (this.table.countOfSubscriber(subscriberId) > 0) return;
    this.observed.get(subscriberId)?.stopObserving();
    this.observed.delete(subscriberId);
    this.owned.remove(subscriberId);
  }
}

/**
 * The key under which the subscriber counts for the limits per principal. An anonymous client counts under its remote
 * address. Undefined while this address is not known: until the first request of a restored session, `quotaKey` is the id
 * of the anonymous principal.
 */
const countedPrincipal = ({ quotaKey }: Subscriber): string | undefined =>
  quotaKey === ANONYMOUS.id ? undefined : quotaKey;

const newSubscription = (
  subscriber: Subscriber,
  { server, uri, isExact }: SubscribableAddress,
): NewSubscription => ({
  subscriber: subscriber.id,
  principal: countedPrincipal(subscriber),
  server,
  uri,
  ...(isExact && { isExact }),
});

const limitError = ({ which, limit }: ReachedLimit) => limitExceeded(LIMIT_MESSAGES[which](limit), limit);
