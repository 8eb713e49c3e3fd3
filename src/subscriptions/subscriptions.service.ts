import { Injectable, type OnModuleInit } from '@nestjs/common';
import { GatewayError } from '../core/errors.js';
import type { SubscribableAddress } from '../core/resources/resource-pattern.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import type { CancelSignal } from '../lib/cancellation/cancellation.js';
import type { SessionContext, SubscriberRequest } from '../mcp/mcp-context.js';
import { Metrics } from '../metrics/metrics.js';
import { ResourceUpdates } from './resource-updates.js';
import { Subscribers } from './subscribers.js';
import { SubscriptionAddresses } from './subscription-addresses.js';
import { SubscriptionLog } from './subscription-log.js';
import { UpstreamSubscriptions } from './upstream-subscriptions.js';

/** A subscription that its server has not confirmed yet. */
interface PendingSubscription {
  /** Resolves when the server has confirmed the subscription, or the row was removed. Rejects if the confirmation fails. */
  readonly established: Promise<void>;
  /** Number of client requests that wait for the confirmation. */
  waitingRequests: number;
}

/** Subscribes and unsubscribes sessions. Listen streams are subscribed by `ListenSubscriptions`. */
@Injectable()
export class Subscriptions implements OnModuleInit {
  /** By id of the subscription. */
  private readonly pendingById = new Map<string, PendingSubscription>();

  constructor(
    private readonly subscribers: Subscribers,
    private readonly addresses: SubscriptionAddresses,
    private readonly upstreams: UpstreamSubscriptions,
    private readonly updates: ResourceUpdates,
    private readonly log: SubscriptionLog,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.metrics.exposeValue(
      'gauge',
      'mcp_active_subscriptions',
      'Subscriptions that clients hold.',
      () => this.subscribers.table.size,
    );
    this.metrics.exposeValue(
      'gauge',
      'gatehouse_subscriptions_without_stream',
      'Subscriptions whose clients have no event stream open.',
      () => this.subscribers.countWithoutStream,
    );
    this.subscribers.onEnd((removed, reason) => {
      for (const { subscription } of removed) this.log.ended(subscription, reason);
    });
  }

  /**
   * Throws if a limit is reached. Returns a promise, which rejects instead, if the URI may be in a listing that
   * is being fetched over the client's own links. A URI that does not resolve passes, because `subscribe` refuses it.
   */
  requireWithinLimits(request: SubscriberRequest, uri: string): Promise<void> | undefined {
    const { subscriber } = request;
    const check = (address: SubscribableAddress | undefined): void => {
      if (address) this.log.countLimitError(() => this.subscribers.requireWithinLimits(subscriber, address));
    };
    const found = this.addresses.resolveForSession(request, uri);
    if (found instanceof Promise) return found.then(check);
    check(found);
    return undefined;
  }

  /**
   * Adds a row and resolves when the server has confirmed it. Idempotent. Removes the row again if the server does not
   * confirm it, or if all requests that wait for the confirmation are cancelled.
   */
  async subscribe(context: SessionContext, uri: string): Promise<Subscription> {
    const { subscriber, signal } = context;
    const found = this.addresses.resolveForSession(context, uri);
    const address = found instanceof Promise ? await found : found;
    if (!address) {
      this.addresses.requireListed(context, uri);
      throw this.log.notFound(uri);
    }
    const { subscription, isNew } = this.log.countLimitError(() => this.subscribers.add(subscriber, address));
    // If the session is closed already, `add` has removed the row again.
    if (isNew && this.subscribers.table.get(subscription.id)) this.begin(subscription);
    const pending = this.pendingById.get(subscription.id);
    if (pending) await this.waitFor(pending, subscription.id, signal);
    if (!this.subscribers.table.get(subscription.id)) throw this.endedError(context, uri);
    // Held updates must follow the response, which a batch or a slow connection may write later than now.
    context.onWritten(() => this.updates.acknowledged(subscription));
    return subscription;
  }

  /** Accepts a URI in any form, or the id of a subscription. Returns false if the client has no such subscription. */
  unsubscribe(request: SubscriberRequest, idOrUri: string): boolean {
    const row = this.addresses.findRow(request, idOrUri);
    return row !== undefined && this.end(row.id, 'unsubscribed');
  }

  /** Ends a subscription. Returns false if there is none with this id. `reason` is only logged. */
  end(id: string, reason: string): boolean {
    const removed = this.subscribers.remove(id);
    if (!removed) return false;
    this.log.ended(removed.subscription, reason);
    return true;
  }

  /** Ends the subscriptions that a disabled server has not confirmed. The waiting clients get an error. */
  endPendingAt(server: string): void {
    for (const id of Array.from(this.pendingById.keys()))
      if (this.subscribers.table.get(id)?.server === server) this.end(id, 'server disabled');
  }

  private begin(subscription: Subscription): void {
    this.updates.expectAcknowledgement(subscription);
    const established = this.establish(subscription).finally(() => this.pendingById.delete(subscription.id));
    this.pendingById.set(subscription.id, { established, waitingRequests: 0 });
  }

  /** Waits for the confirmation. The subscription ends when all requests that wait for it are cancelled. */
  private async waitFor(pending: PendingSubscription, id: string, signal: CancelSignal): Promise<void> {
    const cancel = (): void => {
      if (--pending.waitingRequests === 0) this.end(id, 'cancelled');
    };
    pending.waitingRequests++;
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      await pending.established;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  private async establish(subscription: Subscription): Promise<void> {
    try {
      await this.upstreams.confirm(subscription);
      await this.subscribers.waitUntilPersisted();
    } catch (error) {
      // If the row was removed meanwhile, it ended for another reason, which `subscribe` reports.
      if (!this.end(subscription.id, 'failed')) return;
      throw this.log.failed(subscription, error);
    }
    if (this.subscribers.table.get(subscription.id)) this.log.established(subscription);
  }

  /** The error of a subscription that was ended before the server confirmed it. */
  private endedError(request: SubscriberRequest, uri: string): GatewayError {
    return this.addresses.resolve(request, uri)
      ? new GatewayError('cancelled', 'The subscription was ended before the server confirmed it')
      : this.log.notFound(uri);
  }
}
