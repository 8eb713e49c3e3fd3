import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DesiredServers } from '../backends/desired-servers.js';
import type { CancelSignal } from '../lib/cancellation/cancellation.js';
import { GatewayError, nothingToSubscribe, RemoteError } from '../core/errors.js';
import { resourceForm, underscoreId, type ResourceAddress } from '../core/resources/resource-uri.js';
import type { Scope } from '../core/scope.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import type { SessionContext, Subscriber } from '../mcp/mcp-context.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { findSubscriptionAddress } from './subscription-address.js';
import { Subscribers } from './subscribers.js';
import { ResourceUpdates } from './resource-updates.js';
import { UpstreamSubscriptions } from './upstream-subscriptions.js';

/** Being made: its server has not answered yet. */
interface Pending {
  readonly settled: Promise<void>;
  /** How many requests wait for it. */
  requests: number;
}

/** Subscribing and unsubscribing, from the request of a client to what its server is told. */
@Injectable()
export class Subscriptions implements OnModuleInit {
  private readonly logger = new Logger('Subscriptions');
  /** By id. */
  private readonly pending = new Map<string, Pending>();

  constructor(
    private readonly subscribers: Subscribers,
    private readonly upstreams: UpstreamSubscriptions,
    private readonly updates: ResourceUpdates,
    private readonly registry: Registry,
    private readonly desired: DesiredServers,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.metrics.activeSubscriptions = () => this.subscribers.table.size;
    this.desired.onChange((servers) => {
      for (const server of Array.from(this.subscribers.table.servers))
        if (!servers.get(server)?.enabled) this.drop(server);
    });
    this.subscribers.onLeave((removed, reason) => {
      for (const { subscription } of removed) this.log(`subscription ended with its ${reason}`, subscription);
    });
  }

  /** Refuses early what would be one too many. */
  requireWithinLimits(context: SessionContext, uri: string): void {
    const address = this.addressIn(context, uri);
    if (address) this.counted(() => this.subscribers.requireWithinLimits(context.session, address));
  }

  /** Idempotent. Nothing stays when the server refuses, or when the request is cancelled before it has answered. */
  async subscribe(context: SessionContext, uri: string): Promise<Subscription> {
    const { session, signal } = context;
    const address = this.addressIn(context, uri);
    if (!address) throw this.unknown(uri);
    const { subscription, isNew } = this.counted(() => this.subscribers.add(session, address));
    // A client that is gone by now has left already.
    if (isNew && this.subscribers.table.get(subscription.id)) this.begin(subscription);
    const pending = this.pending.get(subscription.id);
    if (pending) await this.join(pending, subscription, signal);
    if (!this.subscribers.table.get(subscription.id)) throw this.gone(context, uri);
    return subscription;
  }

  /** Of an earlier life: its server is told when its link is up. False when the client could not make it now. */
  restore(client: Subscriber, subscription: Parameters<Subscribers['restore']>[1]): boolean {
    const isEnabled = this.desired.current.get(subscription.server)?.enabled ?? false;
    const restored = isEnabled ? this.subscribers.restore(client, subscription) : undefined;
    if (restored?.isNew) this.upstreams.rowRestored(restored.subscription);
    return restored !== undefined;
  }

  /** By the URI in any form, or by the id of the subscription. False when the client is not subscribed to that. */
  unsubscribe(context: SessionContext, text: string): boolean {
    const named = this.named(context, text);
    for (const { id } of named) this.end(id);
    return named.length > 0;
  }

  /** False when there is none. */
  end(id: string): boolean {
    const removed = this.subscribers.remove(id);
    if (!removed) return false;
    this.log('subscription ended', removed.subscription);
    return true;
  }

  /** What a client calls what it is subscribed to. */
  publicUri({ server, uri }: ResourceAddress): string {
    return this.registry.catalog.resources.publicUri({ server, uri });
  }

  /** Whether this is a name of what is subscribed to, in whatever form. */
  isNamed(row: Subscription, text: string): boolean {
    return [row.uri, resourceForm(row), underscoreId(row)].includes(text) || this.publicUri(row) === text;
  }

  /** Also of what a client was told of in a result, which need not be in a list. */
  private addressOf(scope: Scope, text: string): ResourceAddress | undefined {
    const { catalog, links } = this.registry;
    return findSubscriptionAddress(catalog.resources.view(scope), text) ?? links.findAnnounced(scope, text);
  }

  private isInSight(scope: Scope, row: Subscription): boolean {
    return this.registry.catalog.resources.view(scope).find(resourceForm(row)) !== undefined;
  }

  private begin(subscription: Subscription): void {
    this.updates.expectAcknowledgement(subscription);
    const settled = this.establish(subscription).finally(() => this.pending.delete(subscription.id));
    this.pending.set(subscription.id, { settled, requests: 0 });
  }

  /** What no request waits for any more is not to be made. */
  private async join(pending: Pending, { id }: Subscription, signal: CancelSignal): Promise<void> {
    const leave = (): void => {
      if (--pending.requests === 0) this.end(id);
    };
    pending.requests++;
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    try {
      await pending.settled;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** It was taken away while it was being made. */
  private gone(context: SessionContext, uri: string): GatewayError {
    return this.addressIn(context, uri)
      ? new GatewayError('cancelled', 'The subscription was ended while it was being made')
      : this.unknown(uri);
  }

  private unknown(uri: string): GatewayError {
    this.metrics.countSubscriptionRejection('unknown');
    return nothingToSubscribe(uri);
  }

  /** What the client may see can have changed since its request came. */
  private addressIn({ session, scope }: SessionContext, uri: string): ResourceAddress | undefined {
    const address = this.addressOf(scope, uri) ?? this.heldBy(session, uri);
    return address && scope.allows(address.server) && session.scope.allows(address.server)
      ? address
      : undefined;
  }

  /** What a client is subscribed to since an earlier life is known here before its server has said what it has. */
  private heldBy(client: Subscriber, text: string): ResourceAddress | undefined {
    const rows = [...this.subscribers.table.ofSubscriber(client.id)];
    return rows.find((row) => this.isNamed(row, text));
  }

  private async establish(subscription: Subscription): Promise<void> {
    try {
      await this.upstreams.confirm(subscription);
      await this.subscribers.persisted();
    } catch (error) {
      // Whoever took it away meanwhile says why.
      if (!this.end(subscription.id)) return;
      throw this.refusal(subscription, error);
    }
    if (!this.subscribers.table.get(subscription.id)) return;
    this.log('subscribed', subscription);
    // The answer goes up through promises, and is then to be written at the end of the turn: this comes right after it.
    process.nextTick(setImmediate, () => this.updates.acknowledged(subscription));
  }

  private refusal({ server, uri }: Subscription, error: unknown): unknown {
    const refused = error instanceof RemoteError;
    this.metrics.countSubscriptionRejection(refused ? 'failed' : 'unavailable');
    this.logger.warn({ message: 'subscription failed', server, uri, cause: String(error) });
    if (!refused) return error;
    return new GatewayError(
      'subscription-failed',
      `SUBSCRIPTION_FAILED: server ${server} refused the subscription: ${error.message}`,
      { code: 'SUBSCRIPTION_FAILED', server },
      { cause: error },
    );
  }

  private named({ session, scope }: SessionContext, text: string): Subscription[] {
    const { table } = this.subscribers;
    const byId = table.get(text);
    if (byId?.subscriber === session.id) return [byId];
    const address = this.addressOf(scope, text);
    const meant = address && table.find({ subscriber: session.id, ...address });
    if (meant) return [meant];
    // What is not in sight any more can still be named; what is has a name that is nobody else's.
    const isMeant = (row: Subscription): boolean =>
      this.isNamed(row, text) && !(address && this.isInSight(scope, row));
    return [...table.ofSubscriber(session.id)].filter(isMeant);
  }

  private drop(server: string): void {
    for (const { subscription } of this.subscribers.removeServer(server))
      this.log('subscription ended with its server', subscription);
  }

  private counted<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      this.metrics.countSubscriptionRejection('limit');
      throw error;
    }
  }

  private log(message: string, { id, server, uri }: Subscription): void {
    this.logger.debug({ message, subscription: id, server, uri });
  }
}
