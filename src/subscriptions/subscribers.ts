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
import type { ResourceAddress } from '../core/resources/resource-uri.js';
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

/** `isAdded` is false when the subscription was removed. */
type ChangeListener = (subscription: Subscription, client: Subscriber, isAdded: boolean) => void;
type RemoveListener = (subscription: Subscription, client: Subscriber) => void;
/** Why subscriptions ended: the client closed its session, or lost access to the server. */
type EndReason = 'client' | 'scope';
type EndListener = (removed: readonly RemovedSubscription[], reason: EndReason) => void;

type RestorableSubscription = Pick<Subscription, 'id' | 'server' | 'uri' | 'since'>;

interface ObservedClient {
  readonly client: Subscriber;
  stopObserving(): void;
}

/** The subject of the error message. */
const LIMITED: Readonly<Record<ReachedLimit['which'], string>> = {
  perSubscriber: 'a client',
  perPrincipal: 'a client',
  perServer: 'all clients to one server',
  total: 'all clients',
};

/**
 * The subscription table together with the clients it belongs to. Subscriptions end when their client closes its
 * session or loses access to their server.
 */
@Injectable()
export class Subscribers {
  // An id that starts with a dash would be read as an option on a command line.
  readonly table = new SubscriptionTable(() => randomBytes(9).toString('base64url').replace(/^-/, '_'));
  /** By id: the clients that have subscriptions. */
  private readonly clients = new Map<string, ObservedClient>();
  private readonly changeListeners = new ListenerSet<Parameters<ChangeListener>>();
  private readonly removeListeners = new ListenerSet<Parameters<RemoveListener>>();
  private readonly endListeners = new ListenerSet<Parameters<EndListener>>();
  private readonly limits: SubscriptionLimits;
  /** Set by the session persistence: resolves when all current subscriptions would survive a restart. Never rejects. */
  persisted: () => Promise<void> = () => Promise.resolve();

  constructor({ subscriptionsPerClient, subscriptionsPerServer, subscriptions }: Limits) {
    this.limits = {
      perSubscriber: subscriptionsPerClient,
      perPrincipal: subscriptionsPerClient,
      perServer: subscriptionsPerServer,
      total: subscriptions,
    };
  }

  /** Called for every subscription that is added or removed. */
  onChange(listener: ChangeListener): () => void {
    return this.changeListeners.add(listener);
  }

  onRemove(listener: RemoveListener): void {
    this.removeListeners.add(listener);
  }

  /** Called for subscriptions that ended without a request to end them. */
  onEnd(listener: EndListener): void {
    this.endListeners.add(listener);
  }

  client(subscription: Subscription): Subscriber | undefined {
    return this.clients.get(subscription.subscriber)?.client;
  }

  requireWithinLimits(client: Subscriber, address: ResourceAddress): void {
    const reached = findReachedLimit(this.table, newSubscription(client, address), this.limits);
    if (reached) throw limitError(reached);
  }

  /** The subscription counts against the limits from here on. */
  add(client: Subscriber, address: ResourceAddress): AddedSubscription {
    const added = addWithinLimits(this.table, newSubscription(client, address), this.limits, Date.now());
    if ('which' in added) throw limitError(added);
    if (added.isNew) this.added(client, added.subscription);
    return added;
  }

  /** Adds a subscription of a previous process. Undefined when the client may not have it now. */
  restore(
    client: Subscriber,
    { id, since, ...address }: RestorableSubscription,
  ): AddedSubscription | undefined {
    const wanted = newSubscription(client, address);
    if (!client.scope.allows(address.server) || findReachedLimit(this.table, wanted, this.limits))
      return undefined;
    const added = this.table.restore({ ...wanted, id, since });
    if (added.isNew) this.added(client, added.subscription);
    return added;
  }

  /** Undefined when there is no such subscription. */
  remove(id: string): RemovedSubscription | undefined {
    const removed = this.table.removeById(id);
    if (!removed) return undefined;
    this.emitRemoved(removed);
    this.stopObserving(removed);
    return removed;
  }

  removeServer(server: string): RemovedSubscription[] {
    const removed = this.table.removeServer(server);
    for (const one of removed) this.emitRemoved(one);
    for (const one of removed) this.stopObserving(one);
    return removed;
  }

  private added(client: Subscriber, subscription: Subscription): void {
    this.changeListeners.emit(subscription, client, true);
    if (!this.clients.has(client.id)) this.observe(client);
  }

  private observe(client: Subscriber): void {
    const stops: (() => void)[] = [];
    // Before the listeners are added: a client that is closed already calls them at once, which removes it again.
    this.clients.set(client.id, { client, stopObserving: () => stops.forEach((stop) => stop()) });
    stops.push(
      client.onScopeChange(() =>
        this.end(
          [...this.table.ofSubscriber(client.id)].filter(({ server }) => !client.scope.allows(server)),
          'scope',
        ),
      ),
      client.onClose(() => this.end([...this.table.ofSubscriber(client.id)], 'client')),
    );
  }

  private end(subscriptions: readonly Subscription[], reason: EndReason): void {
    const removed = subscriptions.flatMap(({ id }) => this.remove(id) ?? []);
    this.endListeners.emit(removed, reason);
  }

  private emitRemoved({ subscription }: RemovedSubscription): void {
    const client = this.client(subscription);
    if (!client) return;
    this.removeListeners.emit(subscription, client);
    this.changeListeners.emit(subscription, client, false);
  }

  private stopObserving({ subscription: { subscriber } }: RemovedSubscription): void {
    if (this.table.countOfSubscriber(subscriber) > 0) return;
    this.clients.get(subscriber)?.stopObserving();
    this.clients.delete(subscriber);
  }
}

const newSubscription = (
  { id, principal }: Subscriber,
  { server, uri }: ResourceAddress,
): NewSubscription => ({
  subscriber: id,
  principal: principal === ANONYMOUS ? undefined : principal.id,
  server,
  uri,
});

const limitError = ({ which, limit }: ReachedLimit) =>
  limitExceeded(`${LIMITED[which]} may have ${limit} subscriptions`, limit);
