import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import type { ServerNotification } from '../backends/link.js';
import type { Address } from '../core/resource-uri.js';
import { UpdateRouting } from '../core/update-routing.js';
import type { Subscription } from '../core/subscription-target.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { FanOut } from './fan-out.js';
import { ownParams, ResourceUpdate, withPublicUri } from './resource-update.js';
import { Subscribers } from './subscribers.js';
import { UpdateWindows } from './update-windows.js';

/** Of which resource, and for whom if not for all. */
interface News extends Address {
  readonly only?: string | undefined;
  /** About as many bytes as what is said of it. */
  readonly size?: number;
}

/** Brings what servers say of their resources to exactly those who asked for it. */
@Injectable()
export class Updates implements OnModuleInit {
  private readonly logger = new Logger('Subscriptions');
  private readonly routing: UpdateRouting<ResourceUpdate>;
  private readonly windows = new UpdateWindows();
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
  mayHaveChanged(server: string, uri: string, only?: string): void {
    this.publish({ server, uri, only }, () => ownParams(this.publicUri(server, uri)));
  }

  /** Under the name that clients had for it. It is the last word: what waited to be told before would contradict it. */
  deleted({ server, uri }: Address, publicUri: string): void {
    for (const only of [undefined, ...this.ownersOf(server, uri)])
      if (this.windows.drop(windowOf({ server, uri, only }))) this.metrics.resourceUpdated('coalesced');
    this.publish({ server, uri }, () => ownParams(publicUri, 'deleted'));
  }

  /** `only` is the client that has the link to itself. */
  private receive(server: string, notification: ServerNotification, only: string | undefined): void {
    const { method, params, paramsText } = notification;
    if (method !== 'notifications/resources/updated' || paramsText === undefined) return;
    const uri = params['uri'];
    if (typeof uri !== 'string') return;
    const backend = this.backends.find(server);
    // Where clients have links to themselves, none of them reads what the one for all tells of.
    const isNobodys = backend?.isPerClient === true && only === undefined;
    if (isNobodys || this.subscribers.table.covering(server, uri).length === 0) {
      this.metrics.resourceUpdated('unheard');
      return;
    }
    const news = { server, uri, only, size: paramsText.length };
    const publish = (): void =>
      this.publish(news, () => withPublicUri(paramsText, this.publicUri(server, uri)));
    if (!this.windows.pass(windowOf(news), backend?.config.watch.coalesceMs ?? 0, publish))
      this.metrics.resourceUpdated('coalesced');
  }

  private publish(news: News, params: () => string): void {
    const isNew = this.fanOut.add(windowOf(news), () => this.spread(news, params));
    if (!isNew) this.metrics.resourceUpdated('coalesced');
  }

  private *spread(
    { server, uri, only, size = uri.length }: News,
    params: () => string,
  ): Generator<undefined, void, boolean> {
    let update = ResourceUpdate.of({ server, uri }, size, params);
    const due = this.routing.route(server, uri, update, only);
    let next = due.next();
    for (; !next.done; next = due.next()) {
      this.deliver(next.value, update);
      // Those who are still due may have got something else meanwhile.
      if (yield) update = update.later();
    }
    const reached = next.value;
    this.metrics.resourceUpdated(reached > 0 ? 'delivered' : 'unheard');
    this.logger.debug({ message: 'resource updated', server, uri, subscribers: reached });
  }

  private deliver(subscription: Subscription, { frame, options }: ResourceUpdate): void {
    this.subscribers.client(subscription)?.deliver(frame, options);
  }

  /** Who may have a window of their own. */
  private ownersOf(server: string, uri: string): string[] {
    const owners: string[] = [];
    if (this.backends.find(server)?.isPerClient)
      for (const target of this.subscribers.table.covering(server, uri))
        target.forEach(({ subscriber }) => owners.push(subscriber));
    return owners;
  }

  private publicUri(server: string, uri: string): string {
    return this.registry.catalog.resources.publicUri({ server, uri });
  }
}

const windowOf = ({ server, uri, only = '' }: News): string => `${only} ${server} ${uri}`;
