import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import type { ServerNotification } from '../backends/link/link.js';
import type { ResourceAddress } from '../core/resources/resource-uri.js';
import { UpdateRouting, type Route } from '../core/subscriptions/update-routing.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import type { Subscriber } from '../mcp/mcp-context.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { FanOut } from './fan-out.js';
import { ownParams, ResourceUpdate, withPublicUri, type News } from './resource-update.js';
import { Spreading, type Courier } from './spreading.js';
import { Subscribers } from './subscribers.js';
import { UpdateWindows } from './update-windows.js';

/** Brings what servers say of their resources to exactly those who asked for it. */
@Injectable()
export class Updates implements OnModuleInit, Courier {
  private readonly logger = new Logger('Subscriptions');
  private readonly routing: UpdateRouting<ResourceUpdate>;
  private readonly windows = new UpdateWindows<News>((news) => this.publish(news));
  private readonly fanOut = new FanOut((error) =>
    this.logger.error({ message: 'an update was not delivered', cause: String(error) }),
  );

  constructor(
    private readonly subscribers: Subscribers,
    private readonly registry: Registry,
    private readonly backends: Backends,
    private readonly metrics: Metrics,
  ) {
    this.routing = new UpdateRouting(subscribers.table, (outcome) =>
      metrics.notified('resources/updated', outcome),
    );
  }

  onModuleInit(): void {
    this.backends.onNotification((server, notification, owner) =>
      this.receive(server, notification, owner?.id),
    );
    this.subscribers.onChange((subscription, client, isThere) => {
      if (!isThere) this.ended(subscription, client);
    });
  }

  /** Until the client has its acknowledgement, what is meant for it waits. */
  expectAcknowledgement({ id }: Subscription): void {
    this.routing.expectAcknowledgement(id);
  }

  acknowledged(subscription: Subscription): void {
    for (const update of this.routing.acknowledged(subscription.id))
      this.deliver(subscription, update.later());
  }

  /** Nobody saw it change, but nobody was looking either. */
  mayHaveChanged(server: string, uri: string, only?: string): void {
    const params = (): string => ownParams(this.publicUri(server, uri));
    this.publish({ server, uri, only, size: uri.length, params });
  }

  /** Under the name that clients had for it. It is the last word: what waited to be told before would contradict it. */
  deleted({ server, uri }: ResourceAddress, publicUri: string): void {
    for (const only of [undefined, ...this.ownersOf(server, uri)])
      if (this.windows.drop(keyOf(server, uri, only))) this.metrics.resourceUpdated('coalesced');
    const params = (): string => ownParams(publicUri, 'deleted');
    this.publish({ server, uri, only: undefined, size: uri.length, params });
  }

  route({ server, uri, only }: News, update: ResourceUpdate): Route {
    return this.routing.route(server, uri, update, only);
  }

  deliver(subscription: Subscription, update: ResourceUpdate): void {
    this.subscribers.client(subscription)?.deliver(update.frame, update);
  }

  arrived({ server, uri }: News, reached: number): void {
    this.metrics.resourceUpdated(reached > 0 ? 'delivered' : 'unheard');
    this.logger.debug({ message: 'resource updated', server, uri, subscribers: reached });
  }

  /** `only` is the client that has the link to itself. */
  private receive(server: string, notification: ServerNotification, only: string | undefined): void {
    const { method, params, paramsText } = notification;
    if (method !== 'notifications/resources/updated' || paramsText === undefined) return;
    const uri = params['uri'];
    if (typeof uri !== 'string') return;
    const backend = this.backends.find(server);
    // Where clients have links to themselves, none of them reads what the one for all tells of.
    const isNobodys = backend?.hasSessionLinks === true && only === undefined;
    if (isNobodys || this.subscribers.table.covering(server, uri).length === 0) {
      this.metrics.resourceUpdated('unheard');
      return;
    }
    const publicParams = (): string => withPublicUri(paramsText, this.publicUri(server, uri));
    const news = { server, uri, only, size: paramsText.length, params: publicParams };
    if (!this.windows.pass(keyOf(server, uri, only), backend?.config.watch.coalesceMs ?? 0, news))
      this.metrics.resourceUpdated('coalesced');
  }

  /** What the client was to hear by this alone is not for it any more, though it may wait for it already. */
  private ended({ id, server }: Subscription, client: Subscriber): void {
    this.routing.abandoned(id);
    client.withdraw(
      (event) => event instanceof ResourceUpdate && event.server === server && !this.isFor(client, event),
    );
  }

  private isFor({ id }: Subscriber, { server, uri }: ResourceUpdate): boolean {
    return this.subscribers.table.covering(server, uri).some((target) => target.of(id) !== undefined);
  }

  private publish(news: News): void {
    const isNew = this.fanOut.add(keyOf(news.server, news.uri, news.only), new Spreading(news, this));
    if (!isNew) this.metrics.resourceUpdated('coalesced');
  }

  /** Who may have a window of their own. */
  private ownersOf(server: string, uri: string): string[] {
    const owners: string[] = [];
    if (this.backends.find(server)?.hasSessionLinks)
      for (const target of this.subscribers.table.covering(server, uri))
        target.forEach(({ subscriber }) => owners.push(subscriber));
    return owners;
  }

  private publicUri(server: string, uri: string): string {
    return this.registry.catalog.resources.publicUri({ server, uri });
  }
}

/** Of several under one key only the latest matters. */
const keyOf = (server: string, uri: string, only = ''): string => `${only} ${server} ${uri}`;
