import { Injectable } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import { exactAddress, type SubscribableAddress } from '../core/resources/resource-pattern.js';
import { ResourceList } from '../core/resources/resource-list.js';
import {
  parseResourceForm,
  resourceForm,
  underscoreId,
  type ResourceAddress,
} from '../core/resources/resource-uri.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import type { Subscriber, SubscriberRequest } from '../mcp/mcp-context.js';
import { Registry } from '../registry/registry.service.js';
import { Subscribers } from './subscribers.js';
import { listOf } from './wanted-resources.js';

/** Maximum time that a request waits for the listings of servers that are starting. */
const LISTING_WAIT_MS = 5000;

/** Resolves the URI in a request to an address that can be subscribed, or to a subscription that the client has. */
@Injectable()
export class SubscriptionAddresses {
  constructor(
    private readonly subscribers: Subscribers,
    private readonly registry: Registry,
    private readonly backends: Backends,
  ) {}

  /**
   * Returns the address to which a client subscribes with this URI; undefined if there is none. Checks the scope of the
   * request and the scope of the subscriber, which may have changed since the request was received.
   */
  resolve({ subscriber, scope }: SubscriberRequest, uri: string): SubscribableAddress | undefined {
    const address = this.findAddress(scope, uri) ?? this.findSubscribed(subscriber, uri);
    return address && scope.allows(address.server) && subscriber.scope.allows(address.server)
      ? address
      : undefined;
  }

  /**
   * Like `resolve`. If there is no address yet, waits until the listings that are being fetched over the client's own
   * links have arrived.
   */
  resolveForSession(
    request: SubscriberRequest,
    uri: string,
  ): SubscribableAddress | Promise<SubscribableAddress | undefined> | undefined {
    const address = this.resolve(request, uri);
    if (address) return address;
    const servers = this.serversOf(request, uri);
    const pendingListing = this.backends.sessionListings.updateScopeWhenListed(request, servers);
    return pendingListing?.then(() => this.resolve(request, uri));
  }

  /**
   * Waits at most `LISTING_WAIT_MS` until all servers of the scope have listed their resources, and then until the catalog
   * contains these lists. Returns undefined if all servers have listed already.
   */
  whenServersListed({ scope }: SubscriberRequest): Promise<void> | undefined {
    const unlisted = [...this.backends.all()].filter(({ id }) => scope.allows(id) && !this.hasListed(id));
    if (unlisted.length === 0) return undefined;
    return Promise.all(unlisted.map((backend) => backend.whenSynced(LISTING_WAIT_MS))).then(() =>
      this.backends.whenListed(),
    );
  }

  /** The address in a resource form, if its server is enabled and has not listed its resources yet. */
  ofUnlistedServer(request: SubscriberRequest, uri: string): SubscribableAddress | undefined {
    const address = parseResourceForm(uri);
    const { subscriber, scope } = request;
    if (!address || !scope.allows(address.server) || !subscriber.scope.allows(address.server))
      return undefined;
    const isUnlisted = this.backends.find(address.server) !== undefined && !this.hasListed(address.server);
    return isUnlisted && this.hasLinkFor(request, address) ? address : undefined;
  }

  /** Whether a link can carry the subscription: the links of the server are shared, or the subscriber can own a link. */
  hasLinkFor({ subscriber }: SubscriberRequest, { server }: ResourceAddress): boolean {
    return subscriber.linkOwnerId !== undefined || this.backends.find(server)?.hasSessionLinks !== true;
  }

  /** Throws if the URI may belong to a server that has not listed its resources yet, or is not available. */
  requireListed(request: SubscriberRequest, uri: string): void {
    this.backends.requireListed(this.serversOf(request, uri), 'resources', uri);
  }

  /** The client's subscription with this id or URI. The URI may have any form. */
  findRow({ subscriber: { id }, scope }: SubscriberRequest, idOrUri: string): Subscription | undefined {
    const { table } = this.subscribers;
    const byId = table.get(idOrUri);
    if (byId?.subscriber === id) return byId;
    const address = this.findAddress(scope, idOrUri);
    const found = address && table.find({ subscriber: id, ...address });
    if (found) return found;
    const isNamed = this.rowTestFor(idOrUri);
    // When the client subscribed, the URI may have belonged to a resource other than `address`. The subscription to that
    // resource is meant only if the resource is not visible any more: a visible resource has another URI now.
    const rows = [...table.ofSubscriber(id)].filter(
      (row) => isNamed(row) && (!address || !this.isVisible(scope, row)),
    );
    // Several servers may have the same own URI. If the client is subscribed to it at several servers, it is ambiguous.
    return rows.length === 1 ? rows[0] : undefined;
  }

  publicUri({ server, uri }: ResourceAddress, scope?: Scope): string {
    return this.registry.catalog.resources.publicUri({ server, uri }, scope);
  }

  /**
   * Returns a function that tests whether the text is the URI of a row, in any form. It looks the text up once at most.
   */
  rowTestFor(text: string): (row: Subscription) => boolean {
    /** Undefined before the lookup; null if nothing was found. */
    let found: ResourceAddress | null | undefined;
    return (row) => {
      if ([row.uri, resourceForm(row), underscoreId(row)].includes(text)) return true;
      if (found === undefined) found = this.registry.catalog.resources.view(EVERYTHING).find(text) ?? null;
      return found?.server === row.server && found.uri === row.uri;
    };
  }

  /** The servers of the scope to which the URI belongs: the servers whose id it contains. */
  private serversOf({ scope }: Pick<SubscriberRequest, 'scope'>, uri: string): string[] {
    return this.registry.catalogOf(scope).resources.view(scope).ownersOf(uri);
  }

  private hasListed(server: string): boolean {
    return listOf(this.registry.catalog, server) !== ResourceList.NOT_LISTED;
  }

  /** Finds patterns, listed resources, and unlisted resources that their server has linked (`ResourceUris`). */
  private findAddress(scope: Scope, text: string): SubscribableAddress | undefined {
    const found = this.registry.catalogOf(scope).resources.view(scope).findSubscribable(text);
    if (found) return found;
    const linked = this.registry.resourceUris.findLinked(scope, text);
    return linked && exactAddress(linked);
  }

  /** Finds the address of a subscription that the client has. Its server may not have listed its resources yet. */
  private findSubscribed(client: Subscriber, text: string): SubscribableAddress | undefined {
    return [...this.subscribers.table.ofSubscriber(client.id)].find(this.rowTestFor(text));
  }

  private isVisible(scope: Scope, row: Subscription): boolean {
    return this.registry.catalogOf(scope).resources.view(scope).find(resourceForm(row)) !== undefined;
  }
}
