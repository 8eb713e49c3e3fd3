import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DesiredServers } from '../backends/desired-servers.js';
import { GatewayError, nothingToSubscribe, RemoteError } from '../core/errors.js';
import { resourceForm, underscoreId, type Address } from '../core/resource-uri.js';
import type { Scope } from '../core/scope.js';
import type { Subscription } from '../core/subscription-target.js';
import type { McpContext } from '../mcp/mcp-context.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { addressOf } from './subscription-address.js';
import { Subscribers } from './subscribers.js';
import { Updates } from './updates.js';
import { Upstreams } from './upstreams.js';

/** Subscribing and unsubscribing, from the request of a client to what its server is told. */
@Injectable()
export class Subscriptions implements OnModuleInit {
  private readonly logger = new Logger('Subscriptions');
  /** By id: those whose server has not answered yet. */
  private readonly pending = new Map<string, Promise<void>>();

  constructor(
    private readonly subscribers: Subscribers,
    private readonly upstreams: Upstreams,
    private readonly updates: Updates,
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
  }

  /** Refuses early what would be one too many. */
  requireRoom({ client, scope }: McpContext, uri: string): void {
    const address = this.addressOf(scope, uri);
    if (address) this.counted(() => this.subscribers.requireRoom(client, address));
  }

  /** Idempotent. Nothing stays when the server refuses. */
  async subscribe({ client, scope }: McpContext, uri: string): Promise<Subscription> {
    const address = this.addressOf(scope, uri);
    if (!address) {
      this.metrics.subscriptionRejected('unknown');
      throw nothingToSubscribe(uri);
    }
    const { subscription, isNew } = this.counted(() => this.subscribers.add(client, address));
    // A client that is gone by now has left already.
    if (isNew && this.subscribers.table.get(subscription.id)) this.begin(subscription);
    await this.pending.get(subscription.id);
    return subscription;
  }

  /** By the URI in any form, or by the id of the subscription. What is not subscribed to is no error. */
  unsubscribe(context: McpContext, text: string): void {
    for (const subscription of this.named(context, text)) this.end(subscription.id);
  }

  /** False when there is none. */
  end(id: string): boolean {
    const removed = this.subscribers.remove(id);
    if (!removed) return false;
    this.log('subscription ended', removed.subscription);
    if (removed.wasLast) this.upstreams.release(removed.subscription);
    return true;
  }

  /** What a client calls what it is subscribed to. */
  publicUri({ server, uri }: Address): string {
    return this.registry.catalog.resources.publicUri({ server, uri });
  }

  /** Whether this is a name of what is subscribed to, in whatever form. */
  isCalled(row: Subscription, text: string): boolean {
    return [row.uri, resourceForm(row), underscoreId(row)].includes(text) || this.publicUri(row) === text;
  }

  /** Also of what a client was told of in a result, which need not be in a list. */
  private addressOf(scope: Scope, text: string): Address | undefined {
    const { catalog, links } = this.registry;
    return addressOf(catalog.resources.view(scope), text) ?? links.findGiven(scope, text);
  }

  private begin(subscription: Subscription): void {
    this.updates.expectAcknowledgement(subscription);
    const settled = this.establish(subscription).finally(() => this.pending.delete(subscription.id));
    this.pending.set(subscription.id, settled);
  }

  private async establish(subscription: Subscription): Promise<void> {
    try {
      await this.upstreams.ensure(subscription);
    } catch (error) {
      this.end(subscription.id);
      throw this.refusal(subscription, error);
    }
    this.log('subscribed', subscription);
    // The acknowledgement is written before the next turn of the event loop.
    setImmediate(() => this.updates.acknowledged(subscription));
  }

  private refusal({ server, uri }: Subscription, error: unknown): unknown {
    const refused = error instanceof RemoteError;
    this.metrics.subscriptionRejected(refused ? 'failed' : 'unavailable');
    this.logger.warn({ message: 'subscription failed', server, uri, cause: String(error) });
    if (!refused) return error;
    return new GatewayError(
      'subscription-failed',
      `SUBSCRIPTION_FAILED: server ${server} refused the subscription: ${error.message}`,
      { code: 'SUBSCRIPTION_FAILED', server },
      { cause: error },
    );
  }

  private named({ client, scope }: McpContext, text: string): Subscription[] {
    const { table } = this.subscribers;
    const byId = table.get(text);
    if (byId?.subscriber === client.id) return [byId];
    const address = this.addressOf(scope, text);
    const meant = address && table.find({ subscriber: client.id, ...address });
    // What is not in sight any more can still be named.
    return meant ? [meant] : [...table.ofSubscriber(client.id)].filter((row) => this.isCalled(row, text));
  }

  private drop(server: string): void {
    for (const { subscription } of this.subscribers.removeServer(server))
      this.log('subscription ended with its server', subscription);
  }

  private counted<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      this.metrics.subscriptionRejected('limit');
      throw error;
    }
  }

  private log(message: string, { id, server, uri }: Subscription): void {
    this.logger.debug({ message, subscription: id, server, uri });
  }
}
