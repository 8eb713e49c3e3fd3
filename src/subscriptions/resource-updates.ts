import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import type { ServerNotification } from '../backends/link/link.js';
import type { ResourceAddress } from '../core/resources/resource-uri.js';
import type { Scope } from '../core/scope.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import { UpdateRouting } from '../core/subscriptions/update-routing.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';
import { FanOut, type Recipient } from '../mcp/fan-out.js';
import type { Subscriber } from '../mcp/mcp-context.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { knownUris } from './known-uris.js';
import { gatewayParams, ResourceUpdate, UpdateEvent, updateKey, withPublicUri } from './resource-update.js';
import { Subscribers } from './subscribers.js';
import { UnlistedUpdates } from './unlisted-updates.js';
import { UpdateThrottle } from './update-throttle.js';

/** Delivers `notifications/resources/updated` to exactly the subscribers of the resource. */
@Injectable()
export class ResourceUpdates implements OnModuleInit {
  private readonly logger = new Logger('Subscriptions');
  private readonly routing: UpdateRouting<ResourceUpdate>;
  private readonly throttle = new UpdateThrottle<ResourceUpdate>((update) => this.publishWhenListed(update));
  private readonly unlisted: UnlistedUpdates;
  private readonly receivedListeners = new ListenerSet<[ResourceAddress, owner: string | undefined]>();

  constructor(
    private readonly subscribers: Subscribers,
    private readonly registry: Registry,
    private readonly backends: Backends,
    private readonly fanOut: FanOut,
    private readonly metrics: Metrics,
  ) {
    this.unlisted = new UnlistedUpdates(
      (server) => registry.hasFinalUris(server),
      (update) => this.publishIfEnabled(update),
    );
    this.routing = new UpdateRouting(subscribers.table, (outcome) =>
      metrics.countNotification('resources/updated', outcome),
    );
  }

  onModuleInit(): void {
    this.backends.onNotification((server, notification, owner) =>
      this.receive(server, notification, owner?.id),
    );
    this.backends.onSynced(({ id }) => this.unlisted.releaseIfListed(id));
    this.subscribers.onRemove((subscription, client) => this.subscriptionEnded(subscription, client));
  }

  /** Calls the listener for each update of a server. `owner` is the id of the owner of the link, if it is not shared. */
  onReceived(listener: (address: ResourceAddress, owner: string | undefined) => void): void {
    this.receivedListeners.add(listener);
  }

  /** Holds updates for the subscription until `acknowledged` is called. */
  expectAcknowledgement({ id }: Subscription): void {
    this.routing.expectAcknowledgement(id);
  }

  /**
   * To be called when the acknowledgement has been written. Sends the held updates as new events, so that their ids are
   * higher than the ids of events sent meanwhile.
   */
  acknowledged(subscription: Subscription): void {
    const client = this.subscribers.subscriberOf(subscription);
    for (const update of this.routing.acknowledged(subscription.id)) {
      if (!client?.scope.allows(subscription.server)) continue;
      const event = update.createEvent(client.scope);
      client.deliver(event.frame, event);
    }
  }

  /**
   * Sends an update of the gateway itself: a poll found a change, or updates of the server may have been missed.
   * `onlyOwner` is the id of the link owner whose subscribers alone get the update.
   */
  reportPossibleChange(server: string, uri: string, onlyOwner?: string): void {
    const content = { size: uri.length, params: gatewayParams, publicUri: this.publicUrisOf(server, uri) };
    this.publishWhenListed(new ResourceUpdate(server, uri, onlyOwner, content));
  }

  /** Sends an update of a resource, or its deletion, to one subscriber that may have missed it. */
  repeatFor(client: Subscriber, { server, uri }: ResourceAddress, isGone: boolean): void {
    const params = isGone ? deletedParams : gatewayParams;
    const content = { size: uri.length, params, publicUri: this.publicUrisOf(server, uri) };
    const update = new ResourceUpdate(server, uri, client.id, content);
    if (this.unlisted.hold(update)) return;
    // No recipient: the update is held until the client has the acknowledgement of its subscription.
    if (this.routing.route(server, uri, update, [client.id]).next().done) return;
    const event = update.createEvent(client.scope);
    client.deliver(event.frame, event);
  }

  /**
   * Sends the deletion under the last public URI of the resource in each scope. Drops throttled updates: after the
   * deletion, clients would take them for the return of the resource. `onlyOwner` is the id of the link owner whose
   * subscribers alone get the deletion.
   */
  reportDeletion(
    { server, uri }: ResourceAddress,
    publicUri: (scope: Scope) => string,
    onlyOwner?: string,
  ): void {
    for (const owner of [undefined, ...this.ownersOf(server, uri)])
      if (this.throttle.drop(updateKey(server, uri, owner))) this.metrics.countUnsentUpdate('coalesced');
    const content = { size: uri.length, params: deletedParams, publicUri };
    this.publish(new ResourceUpdate(server, uri, onlyOwner, content));
  }

  /** `owner` is the id of the owner of the link; undefined for the shared link. */
  private receive(server: string, notification: ServerNotification, owner: string | undefined): void {
    const { method, params, paramsText } = notification;
    if (method !== 'notifications/resources/updated' || paramsText === undefined) return;
    const uri = params['uri'];
    if (typeof uri !== 'string') return;
    const backend = this.backends.find(server);
    // If sessions have links of their own, no client reads resources over the shared link.
    const isOnUnusedLink = backend?.hasSessionLinks === true && owner === undefined;
    const known = isOnUnusedLink ? [] : knownUris(this.registry, this.subscribers.table, server, uri);
    if (known.length === 0) this.metrics.countUnsentUpdate('unheard');
    for (const ownUri of known) {
      this.receivedListeners.emit({ server, uri: ownUri }, owner);
      const update = new ResourceUpdate(server, ownUri, owner, {
        size: paramsText.length,
        params: (publicUri) => withPublicUri(paramsText, publicUri),
        publicUri: this.publicUrisOf(server, ownUri),
      });
      if (!this.throttle.submit(update.key, backend?.config.watch.coalesceMs ?? 0, update))
        this.metrics.countUnsentUpdate('coalesced');
    }
  }

  /** Holds the update until the server has listed its resources: their public URIs depend on the lists. */
  private publishWhenListed(update: ResourceUpdate): void {
    if (!this.unlisted.hold(update)) this.publishIfEnabled(update);
  }

  /** Drops an update whose server was disabled meanwhile: subscribers would take it for the return of the resource. */
  private publishIfEnabled(update: ResourceUpdate): void {
    if (this.backends.find(update.server)) this.publish(update);
    else this.metrics.countUnsentUpdate('unheard');
  }

  private publish(update: ResourceUpdate): void {
    const isNew = this.fanOut.deliver({
      key: update.key,
      recipients: () => this.recipientsOf(update),
      createEvent: () => update.createEvent(),
    });
    if (!isNew) this.metrics.countUnsentUpdate('coalesced');
  }

  private *recipientsOf(update: ResourceUpdate): Generator<Recipient, void, undefined> {
    const { server, uri, onlyOwner } = update;
    const { owned } = this.subscribers;
    const subscribers = onlyOwner === undefined ? undefined : owned.subscribersOf(onlyOwner);
    // Read with `next` instead of `for of`, which would lose the returned number of subscribers.
    const route = this.routing.route(server, uri, update, subscribers);
    let next = route.next();
    for (; !next.done; next = route.next()) {
      const client = this.subscribers.subscriberOf(next.value);
      // Rows of a server that left the scope are removed later, in slices.
      if (client?.scope.allows(server)) yield this.registry.hasScopedUris ? scoped(client) : client;
    }
    if (next.value === 0) this.metrics.countUnsentUpdate('unheard');
    this.logger.debug({ message: 'resource updated', server, uri, subscribers: next.value });
  }

  /** Withdraws queued updates that no other subscription of the client covers. */
  private subscriptionEnded({ id, server }: Subscription, client: Subscriber): void {
    this.routing.abandoned(id);
    client.withdraw(
      (event) => event instanceof UpdateEvent && event.server === server && !this.isSubscribed(client, event),
    );
  }

  private isSubscribed({ id }: Subscriber, { server, uri }: UpdateEvent): boolean {
    return this.subscribers.table
      .covering(server, uri)
      .some((target) => target.subscriptionOf(id) !== undefined);
  }

  /**
   * The link owners with subscriptions to the resource, if the links of the server are not shared; otherwise none. The throttle
   * may hold an update of the resource for each of them.
   */
  private ownersOf(server: string, uri: string): Iterable<string> {
    const { table, owned } = this.subscribers;
    const owners = new Set<string>();
    if (this.backends.find(server)?.hasSessionLinks)
      for (const target of table.covering(server, uri))
        target.forEach((row) => owners.add(owned.ownerOf(row)));
    return owners;
  }

  private publicUrisOf(server: string, uri: string): (scope: Scope) => string {
    return (scope) => this.registry.catalog.resources.publicUri({ server, uri }, scope);
  }
}

const deletedParams = (publicUri: string): string => gatewayParams(publicUri, 'deleted');

/** Delivers updates under the public URI that the resource has for the client. */
const scoped = (client: Subscriber): Recipient => ({
  // FanOut passes the whole event as delivery options.
  deliver: (frame, options) => {
    const event = options instanceof UpdateEvent ? options.inScope(client.scope) : { ...options, frame };
    return client.deliver(event.frame, event);
  },
});
