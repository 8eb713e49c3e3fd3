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

  /** Calls the listener for each update that a server sends. `owner` is the id of the link's owner, if it has one. */
  onReceived(listener: (address: ResourceAddress, owner: string | undefined) => void): void {
    this.receivedListeners.add(listener);
  }

  /** Holds updates for a new subscription until `acknowledged` is called. */
  expectAcknowledgement({ id }: Subscription): void {
    this.routing.expectAcknowledgement(id);
  }

  /**
   * Call this when the acknowledgement has been written. Sends the held updates as new events, so that their ids are
   * higher than the ids of events that were sent while the updates were held.
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
   * Sends an update from the gateway itself, because a poll found a change or updates of the server may have been lost.
   * `onlyOwner` is the id of a link owner: if given, only subscribers of this owner get the update.
   */
  reportPossibleChange(server: string, uri: string, onlyOwner?: string): void {
    const content = { size: uri.length, params: gatewayParams, publicUri: this.publicUrisOf(server, uri) };
    this.publishWhenListed(new ResourceUpdate(server, uri, onlyOwner, content));
  }

  /** Sends an update of a resource, or its deletion, to one subscriber that may have missed it. */
  repeatFor(client: Subscriber, { server, uri }: ResourceAddress, isGone: boolean): void {
    const params = isGone ? deletedParams : gatewayParams;
    const content = { size: uri.length, params, publicUri: this.publicUrisOf(server, uri) };
    // Only a session can have missed events, and a session is its own link owner.
    const update = new ResourceUpdate(server, uri, client.id, content);
    if (this.unlisted.hold(update)) return;
    const { done: isHeldOrEnded } = this.routing.route(server, uri, update, [client.id]).next();
    // A held update is sent after the client has got the acknowledgement of its subscription.
    if (isHeldOrEnded) return;
    const event = update.createEvent(client.scope);
    client.deliver(event.frame, event);
  }

  /**
   * Sends the deletion under the last public URI of the resource in each scope. Drops throttled updates, because
   * clients would conclude from an update after the deletion that the resource exists again. `onlyOwner` is the id of a
   * link owner: if given, only subscribers of this owner get the deletion.
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
    // If link owners have links of their own, no client reads resources over the shared link.
    const isOnUnusedLink = backend?.hasSessionLinks === true && owner === undefined;
    const subscribed = isOnUnusedLink ? [] : knownUris(this.registry, this.subscribers.table, server, uri);
    if (subscribed.length === 0) this.metrics.countUnsentUpdate('unheard');
    for (const ownUri of subscribed) {
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

  /** Publishes the update as soon as the server has listed its resources, because public URIs depend on the lists. */
  private publishWhenListed(update: ResourceUpdate): void {
    if (!this.unlisted.hold(update)) this.publishIfEnabled(update);
  }

  /**
   * Drops the update if its server was disabled meanwhile. Subscribers have got the deletion of the resource already.
   */
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
    // A `for of` loop would lose the return value of the generator: the number of subscribers.
    const route = this.routing.route(server, uri, update, subscribers);
    let next = route.next();
    for (; !next.done; next = route.next()) {
      const client = this.subscribers.subscriberOf(next.value);
      // The row of a server that is no longer in the scope may still exist, because `Subscribers` removes rows in
      // slices.
      if (client?.scope.allows(server)) yield this.registry.hasScopedUris ? scoped(client) : client;
    }
    if (next.value === 0) this.metrics.countUnsentUpdate('unheard');
    this.logger.debug({ message: 'resource updated', server, uri, subscribers: next.value });
  }

  /** Removes updates from the queue of the client, unless another subscription of the client covers them. */
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
   * The link owners with subscriptions to the resource, if the links of the server are not shared. The throttle may hold an
   * update for each of them. Empty for other servers.
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
  // FanOut passes the event itself as the options of the delivery.
  deliver: (frame, options) => {
    const event = options instanceof UpdateEvent ? options.inScope(client.scope) : { ...options, frame };
    return client.deliver(event.frame, event);
  },
});
