import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import type { ServerNotification } from '../backends/link.js';
import type { Address } from '../core/resource-uri.js';
import { UpdateRouting } from '../core/update-routing.js';
import type { Subscription } from '../core/subscription-target.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { ownParams, ResourceUpdate, withPublicUri } from './resource-update.js';
import { Subscribers } from './subscribers.js';
import { UpdateWindows } from './update-windows.js';

/** Brings what servers say of their resources to exactly those who asked for it. */
@Injectable()
export class Updates implements OnModuleInit {
  private readonly logger = new Logger('Subscriptions');
  private readonly routing: UpdateRouting<ResourceUpdate>;
  private readonly windows = new UpdateWindows();

  constructor(
    private readonly subscribers: Subscribers,
    private readonly registry: Registry,
    private readonly backends: Backends,
    private readonly metrics: Metrics,
  ) {
    this.routing = new UpdateRouting(subscribers.table);
  }

  onModuleInit(): void {
    this.backends.onNotification((server, notification) => this.receive(server, notification));
    this.subscribers.onChange(({ id }, _client, isThere) => {
      if (!isThere) this.routing.abandoned(id);
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
  mayHaveChanged(server: string, uri: string): void {
    this.publish(server, uri, () => ownParams(this.publicUri(server, uri)));
  }

  /** Under the name that clients had for it. It is the last word: what waited to be told before would contradict it. */
  deleted({ server, uri }: Address, publicUri: string): void {
    if (this.windows.drop(windowOf(server, uri))) this.metrics.resourceUpdated('coalesced');
    this.publish(server, uri, () => ownParams(publicUri, 'deleted'));
  }

  private receive(server: string, { method, params, paramsText }: ServerNotification): void {
    if (method !== 'notifications/resources/updated' || paramsText === undefined) return;
    const uri = params['uri'];
    if (typeof uri !== 'string') return;
    if (this.subscribers.table.covering(server, uri).length === 0) {
      this.metrics.resourceUpdated('unheard');
      return;
    }
    const publish = (): void =>
      this.publish(server, uri, () => withPublicUri(paramsText, this.publicUri(server, uri)));
    const windowMs = this.backends.find(server)?.config.watch.coalesceMs ?? 0;
    if (!this.windows.pass(windowOf(server, uri), windowMs, publish))
      this.metrics.resourceUpdated('coalesced');
  }

  private publish(server: string, uri: string, params: () => string): void {
    const update = ResourceUpdate.of({ server, uri }, params);
    const reached = this.routing.route(server, uri, update, (subscription) =>
      this.deliver(subscription, update),
    );
    this.metrics.resourceUpdated(reached > 0 ? 'delivered' : 'unheard');
    this.logger.debug({ message: 'resource updated', server, uri, subscribers: reached });
  }

  private deliver(subscription: Subscription, { frame, key }: ResourceUpdate): void {
    this.subscribers.client(subscription)?.deliver(frame, { coalesce: key, kind: 'resources/updated' });
  }

  private publicUri(server: string, uri: string): string {
    return this.registry.catalog.resources.publicUri({ server, uri });
  }
}

const windowOf = (server: string, uri: string): string => `${server} ${uri}`;
