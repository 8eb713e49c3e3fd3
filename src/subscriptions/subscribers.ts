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

type Listener = (subscription: Subscription, client: Subscriber, isThere: boolean) => void;
/** What a subscription went with: the client itself, or what it may see. */
export type LeaveReason = 'client' | 'scope';
type LeaveListener = (removed: readonly RemovedSubscription[], reason: LeaveReason) => void;

type Restored = Pick<Subscription, 'id' | 'server' | 'uri' | 'since'>;

interface Known {
  readonly client: Subscriber;
  /** Stops listening to the client. */
  forget(): void;
}

const WORDS: Readonly<Record<ReachedLimit['which'], string>> = {
  perSubscriber: 'a client',
  perPrincipal: 'a client',
  perServer: 'all clients to one server',
  total: 'all clients',
};

/** Who is subscribed to what. Whoever leaves, or may not see a server any more, is subscribed to nothing of it. */
@Injectable()
export class Subscribers {
  // With a dash in front it would be an option on a command line.
  readonly table = new SubscriptionTable(() => randomBytes(9).toString('base64url').replace(/^-/, '_'));
  private readonly known = new Map<string, Known>();
  private readonly listeners = new ListenerSet<Parameters<Listener>>();
  private readonly leaveListeners = new ListenerSet<Parameters<LeaveListener>>();
  private readonly limits: SubscriptionLimits;
  /** Set by whoever keeps them over a restart: resolves when those there are would survive one. Never rejects. */
  persisted: () => Promise<void> = () => Promise.resolve();

  constructor({ subscriptionsPerClient, subscriptionsPerServer, subscriptions }: Limits) {
    this.limits = {
      perSubscriber: subscriptionsPerClient,
      perPrincipal: subscriptionsPerClient,
      perServer: subscriptionsPerServer,
      total: subscriptions,
    };
  }

  /** Told of every subscription that comes or goes. */
  onChange(listener: Listener): () => void {
    return this.listeners.add(listener);
  }

  /** Told of those that went with a client or a scope, without anybody asking for it. */
  onLeave(listener: LeaveListener): void {
    this.leaveListeners.add(listener);
  }

  client(subscription: Subscription): Subscriber | undefined {
    return this.known.get(subscription.subscriber)?.client;
  }

  requireWithinLimits(client: Subscriber, address: ResourceAddress): void {
    const reached = findReachedLimit(this.table, askedBy(client, address), this.limits);
    if (reached) throw tooMany(reached);
  }

  /** Counts from here on. */
  add(client: Subscriber, address: ResourceAddress): AddedSubscription {
    const added = addWithinLimits(this.table, askedBy(client, address), this.limits, Date.now());
    if ('which' in added) throw tooMany(added);
    if (added.isNew) this.added(client, added.subscription);
    return added;
  }

  /** A subscription of an earlier life of the gateway. Undefined when the client could not make it now. */
  restore(client: Subscriber, { id, since, ...address }: Restored): AddedSubscription | undefined {
    const asked = askedBy(client, address);
    if (!client.scope.allows(address.server) || findReachedLimit(this.table, asked, this.limits))
      return undefined;
    const added = this.table.restore({ ...asked, id, since });
    if (added.isNew) this.added(client, added.subscription);
    return added;
  }

  /** Undefined when there is no such subscription. */
  remove(id: string): RemovedSubscription | undefined {
    const removed = this.table.removeById(id);
    if (!removed) return undefined;
    this.tell(removed);
    this.forget(removed);
    return removed;
  }

  /** All of a server. */
  removeServer(server: string): RemovedSubscription[] {
    const removed = this.table.removeServer(server);
    for (const one of removed) this.tell(one);
    for (const one of removed) this.forget(one);
    return removed;
  }

  private added(client: Subscriber, subscription: Subscription): void {
    this.listeners.emit(subscription, client, true);
    if (!this.known.has(client.id)) this.meet(client);
  }

  private meet(client: Subscriber): void {
    const stops: (() => void)[] = [];
    // Known before it is listened to: one that is gone already says so at once, and is forgotten again.
    this.known.set(client.id, { client, forget: () => stops.forEach((stop) => stop()) });
    stops.push(
      client.onScopeChange(() =>
        this.left(
          [...this.table.ofSubscriber(client.id)].filter(({ server }) => !client.scope.allows(server)),
          'scope',
        ),
      ),
      client.onClose(() => this.left([...this.table.ofSubscriber(client.id)], 'client')),
    );
  }

  private left(subscriptions: readonly Subscription[], reason: LeaveReason): void {
    const removed = subscriptions.flatMap(({ id }) => this.remove(id) ?? []);
    this.leaveListeners.emit(removed, reason);
  }

  private tell({ subscription }: RemovedSubscription): void {
    const known = this.known.get(subscription.subscriber);
    if (known) this.listeners.emit(subscription, known.client, false);
  }

  /** Whoever has none any more is not listened to. */
  private forget({ subscription: { subscriber } }: RemovedSubscription): void {
    if (this.table.countOfSubscriber(subscriber) > 0) return;
    this.known.get(subscriber)?.forget();
    this.known.delete(subscriber);
  }
}

const askedBy = ({ id, principal }: Subscriber, { server, uri }: ResourceAddress): NewSubscription => ({
  subscriber: id,
  principal: principal === ANONYMOUS ? undefined : principal.id,
  server,
  uri,
});

const tooMany = ({ which, limit }: ReachedLimit) =>
  limitExceeded(`${WORDS[which]} may have ${limit} subscriptions`, limit);
