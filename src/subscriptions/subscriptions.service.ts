import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import { DesiredServers } from '../backends/desired-servers.js';
import type { CancelSignal } from '../lib/cancellation/cancellation.js';
import { GatewayError, nothingToSubscribe, RemoteError } from '../core/errors.js';
import { exactAddress, patternAt, type SubscribableAddress } from '../core/resources/resource-pattern.js';
import { resourceForm, underscoreId, type ResourceAddress } from '../core/resources/resource-uri.js';
import type { Scope } from '../core/scope.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import { clientLabel } from '../mcp/client-profile.js';
import { runSliced, type Steps } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import type { SessionContext, Subscriber } from '../mcp/mcp-context.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { Subscribers } from './subscribers.js';
import { ResourceUpdates } from './resource-updates.js';
import { UpstreamSubscriptions } from './upstream-subscriptions.js';

/** A subscription that its server has not confirmed yet. */
interface PendingSubscription {
  readonly established: Promise<void>;
  /** Number of client requests that wait for it. */
  requests: number;
}

/** Subscribes and unsubscribes clients. */
@Injectable()
export class Subscriptions implements OnModuleInit {
  private readonly logger = new Logger('Subscriptions');
  /** By id of the subscription. */
  private readonly pending = new Map<string, PendingSubscription>();

  constructor(
    private readonly subscribers: Subscribers,
    private readonly upstreams: UpstreamSubscriptions,
    private readonly updates: ResourceUpdates,
    private readonly registry: Registry,
    private readonly desired: DesiredServers,
    private readonly backends: Backends,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.metrics.activeSubscriptions = () => this.subscribers.table.size;
    this.metrics.subscriptionsWithoutStream = () => this.subscribers.countWithoutStream;
    this.desired.onChange((servers) => {
      for (const id of Array.from(this.subscribers.table.servers)) {
        const server = servers.get(id);
        if (!server) void runSliced(this.endSubscriptionsTo(id), sliceScheduler.start());
        else if (!server.enabled) this.endPendingAt(id);
      }
    });
    this.subscribers.onEnd((removed, reason) => {
      for (const { subscription } of removed) this.logEnd(subscription, reason);
    });
  }

  /** Throws when a limit is reached. A URI that does not resolve passes: `subscribe` refuses it. */
  requireWithinLimits(context: SessionContext, uri: string): void {
    const address = this.resolve(context, uri);
    if (address) this.countLimitError(() => this.subscribers.requireWithinLimits(context.session, address));
  }

  /** Idempotent. Removes the row again if the server refuses, or if the request is cancelled before the server confirms. */
  async subscribe(context: SessionContext, uri: string): Promise<Subscription> {
    const { session, scope, signal } = context;
    const address = this.resolve(context, uri);
    if (!address) {
      const { resources } = this.registry.catalogOf(scope);
      this.backends.requireListed(resources.view(scope).ownersOf(uri), 'resources', uri);
      throw this.notFound(uri);
    }
    const { subscription, isNew } = this.countLimitError(() => this.subscribers.add(session, address));
    // If the session has been closed, `add` has removed the row again.
    if (isNew && this.subscribers.table.get(subscription.id)) this.begin(subscription);
    const pending = this.pending.get(subscription.id);
    if (pending) await this.waitFor(pending, subscription.id, signal);
    if (!this.subscribers.table.get(subscription.id)) throw this.endedError(context, uri);
    // In a batch, or on a slow connection, the response is written later than it is computed. Held updates follow it.
    context.onWritten(() => this.updates.acknowledged(subscription));
    return subscription;
  }

  /** Adds a subscription of a previous process. False when the server was removed, or scope or limits do not allow it. */
  restore(client: Subscriber, subscription: Parameters<Subscribers['restore']>[1]): boolean {
    const server = this.desired.current.get(subscription.server);
    const restored = server && this.subscribers.restore(client, subscription);
    if (!restored) return false;
    if (restored.isNew && server.enabled) this.upstreams.rowRestored(restored.subscription);
    // The previous process may have ended before the client got the deletion, or the configuration has changed since.
    else if (restored.isNew) this.reportDisabled(restored.subscription);
    return true;
  }

  /** Accepts the URI in any form, or the id of the subscription. False when the client has no such subscription. */
  unsubscribe(context: SessionContext, text: string): boolean {
    const rows = this.findRows(context, text);
    for (const { id } of rows) this.end(id, 'unsubscribed');
    return rows.length > 0;
  }

  /** `reason` is for the log. False when there is no such subscription. */
  end(id: string, reason: string): boolean {
    const removed = this.subscribers.remove(id);
    if (!removed) return false;
    this.logEnd(removed.subscription, reason);
    return true;
  }

  publicUri({ server, uri }: ResourceAddress, scope?: Scope): string {
    return this.registry.catalog.resources.publicUri({ server, uri }, scope);
  }

  /** Whether the text is the URI that the row subscribes to, in any form. */
  isUriOf(row: Subscription, text: string): boolean {
    return [row.uri, resourceForm(row), underscoreId(row)].includes(text) || this.publicUri(row) === text;
  }

  /** Also finds unlisted resources that are linked. */
  private findAddress(scope: Scope, text: string): SubscribableAddress | undefined {
    const found = this.registry.catalogOf(scope).resources.view(scope).findSubscribable(text);
    if (found) return found;
    const linked = this.registry.links.findLinked(scope, text);
    return linked && exactAddress(linked);
  }

  private isVisible(scope: Scope, row: Subscription): boolean {
    return this.registry.catalogOf(scope).resources.view(scope).find(resourceForm(row)) !== undefined;
  }

  private begin(subscription: Subscription): void {
    this.updates.expectAcknowledgement(subscription);
    const established = this.establish(subscription).finally(() => this.pending.delete(subscription.id));
    this.pending.set(subscription.id, { established, requests: 0 });
  }

  /** The subscription ends when all requests that wait for it are cancelled. */
  private async waitFor(pending: PendingSubscription, id: string, signal: CancelSignal): Promise<void> {
    const cancel = (): void => {
      if (--pending.requests === 0) this.end(id, 'cancelled');
    };
    pending.requests++;
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      await pending.established;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** The row was removed before the server confirmed it. */
  private endedError(context: SessionContext, uri: string): GatewayError {
    return this.resolve(context, uri)
      ? new GatewayError('cancelled', 'The subscription was ended while it was being made')
      : this.notFound(uri);
  }

  private notFound(uri: string): GatewayError {
    this.metrics.countSubscriptionRejection('unknown');
    return nothingToSubscribe(uri);
  }

  /** Also checks the scope of the session, which may have changed since the request was received. */
  private resolve({ session, scope }: SessionContext, uri: string): SubscribableAddress | undefined {
    const address = this.findAddress(scope, uri) ?? this.findSubscribed(session, uri);
    return address && scope.allows(address.server) && session.scope.allows(address.server)
      ? address
      : undefined;
  }

  /** Finds restored subscriptions even before their server has listed its resources. */
  private findSubscribed(client: Subscriber, text: string): SubscribableAddress | undefined {
    return [...this.subscribers.table.ofSubscriber(client.id)].find((row) => this.isUriOf(row, text));
  }

  private async establish(subscription: Subscription): Promise<void> {
    try {
      await this.upstreams.confirm(subscription);
      await this.subscribers.waitUntilPersisted();
    } catch (error) {
      // A row that has been removed meanwhile ended for another reason, which `subscribe` reports.
      if (!this.end(subscription.id, 'failed')) return;
      throw this.reportFailure(subscription, error);
    }
    if (!this.subscribers.table.get(subscription.id)) return;
    const { id, server, uri } = subscription;
    const client = clientLabel(this.subscribers.subscriberOf(subscription)?.clientInfo);
    this.logger.debug({ message: 'subscribed', subscription: id, server, uri, client });
  }

  /** Counts and logs the failure. Returns the error for the client. */
  private reportFailure({ server, uri }: Subscription, error: unknown): unknown {
    const isRefused = error instanceof RemoteError;
    this.metrics.countSubscriptionRejection(isRefused ? 'failed' : 'unavailable');
    this.logger.warn({ message: 'subscription failed', server, uri, cause: String(error) });
    if (!isRefused) return error;
    return new GatewayError(
      'subscription-failed',
      `SUBSCRIPTION_FAILED: server ${server} refused the subscription: ${error.message}`,
      { code: 'SUBSCRIPTION_FAILED', server },
      { cause: error },
    );
  }

  private findRows({ session, scope }: SessionContext, text: string): Subscription[] {
    const { table } = this.subscribers;
    const byId = table.get(text);
    if (byId?.subscriber === session.id) return [byId];
    const address = this.findAddress(scope, text);
    const found = address && table.find({ subscriber: session.id, ...address });
    if (found) return [found];
    // A resource that is not visible any more keeps its URIs. A visible one loses a URI that now resolves to another resource.
    const rows = [...table.ofSubscriber(session.id)].filter(
      (row) => this.isUriOf(row, text) && (!address || !this.isVisible(scope, row)),
    );
    // Several servers may have the same own URI. It is ambiguous if the client is subscribed to it on more than one.
    return rows.length === 1 ? rows : [];
  }

  /** Clients that wait for the confirmation of a server that is disabled meanwhile get an error. */
  private endPendingAt(server: string): void {
    for (const id of Array.from(this.pending.keys()))
      if (this.subscribers.table.get(id)?.server === server) this.end(id, 'server disabled');
  }

  private reportDisabled(row: Subscription): void {
    if (patternAt(row)) return;
    this.updates.reportDeletion(row, (scope) => this.publicUri(row, scope), row.subscriber);
  }

  /** In slices: a server may have 100,000 subscriptions. Rows of a server that is added again meanwhile are not affected. */
  private *endSubscriptionsTo(server: string): Steps {
    const rows = Array.from(this.subscribers.table.targetsOf(server), (target) => [...target]).flat();
    for (const { id } of rows) yield void this.end(id, 'server removed');
  }

  private countLimitError<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      this.metrics.countSubscriptionRejection('limit');
      throw error;
    }
  }

  private logEnd({ id, server, uri }: Subscription, reason: string): void {
    this.logger.debug({ message: 'subscription ended', subscription: id, server, uri, reason });
  }
}
