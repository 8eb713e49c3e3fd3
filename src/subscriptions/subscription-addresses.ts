import { Injectable } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import { exactAddress, type SubscribableAddress } from '../core/resources/resource-pattern.js';
import { resourceForm, underscoreId, type ResourceAddress } from '../core/resources/resource-uri.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import type { SessionContext, Subscriber } from '../mcp/mcp-context.js';
import { Registry } from '../registry/registry.service.js';
import { Subscribers } from './subscribers.js';

/** Resolves the URI in a request to what a client may subscribe to, or to the subscriptions that the client has. */
@Injectable()
export class SubscriptionAddresses {
  constructor(
    private readonly subscribers: Subscribers,
    private readonly registry: Registry,
    private readonly backends: Backends,
  ) {}

  /**
   * What the URI resolves to; undefined if there is nothing to subscribe to. Also checks the scope of the session, which
   * may have changed since the request was received.
   */
  resolve({ session, scope }: SessionContext, uri: string): SubscribableAddress | undefined {
    const address = this.findAddress(scope, uri) ?? this.findSubscribed(session, uri);
    return address && scope.allows(address.server) && session.scope.allows(address.server)
      ? address
      : undefined;
  }

  /** Like `resolve`; if there is nothing yet, waits until the session's own listings are fetched. */
  resolveForSession(
    context: SessionContext,
    uri: string,
  ): SubscribableAddress | Promise<SubscribableAddress | undefined> | undefined {
    const address = this.resolve(context, uri);
    if (address) return address;
    const { scope } = context;
    const owners = this.registry.catalogOf(scope).resources.view(scope).ownersOf(uri);
    const listed = this.backends.sessionListings.whenMayBeListed(context, owners);
    return listed?.then(() => this.resolve(context, uri));
  }

  /** Throws when the URI may belong to a server that has not listed its resources yet, or is unavailable. */
  requireListed({ scope }: SessionContext, uri: string): void {
    const { resources } = this.registry.catalogOf(scope);
    this.backends.requireListed(resources.view(scope).ownersOf(uri), 'resources', uri);
  }

  /** The subscription of the client that the text names: by id, or by URI in any form. */
  findRow({ session, scope }: SessionContext, idOrUri: string): Subscription | undefined {
    const { table } = this.subscribers;
    const byId = table.get(idOrUri);
    if (byId?.subscriber === session.id) return byId;
    const address = this.findAddress(scope, idOrUri);
    const found = address && table.find({ subscriber: session.id, ...address });
    if (found) return found;
    const isNamed = this.namedBy(idOrUri);
    // A resource that is not visible any more keeps its URIs. A visible one loses a URI that now names another resource.
    const rows = [...table.ofSubscriber(session.id)].filter(
      (row) => isNamed(row) && (!address || !this.isVisible(scope, row)),
    );
    // Several servers may have the same own URI. The URI is ambiguous if the client is subscribed to it on more than one.
    return rows.length === 1 ? rows[0] : undefined;
  }

  publicUri({ server, uri }: ResourceAddress, scope?: Scope): string {
    return this.registry.catalog.resources.publicUri({ server, uri }, scope);
  }

  /** Returns the test whether the text is the URI that a row subscribes to, in any form. Looks the text up once at most. */
  namedBy(text: string): (row: Subscription) => boolean {
    let found: ResourceAddress | null | undefined;
    return (row) => {
      if ([row.uri, resourceForm(row), underscoreId(row)].includes(text)) return true;
      if (found === undefined) found = this.registry.catalog.resources.view(EVERYTHING).find(text) ?? null;
      return found?.server === row.server && found.uri === row.uri;
    };
  }

  /** Also finds unlisted resources that are linked. */
  private findAddress(scope: Scope, text: string): SubscribableAddress | undefined {
    const found = this.registry.catalogOf(scope).resources.view(scope).findSubscribable(text);
    if (found) return found;
    const linked = this.registry.links.findLinked(scope, text);
    return linked && exactAddress(linked);
  }

  /** Finds restored subscriptions even before their server has listed its resources. */
  private findSubscribed(client: Subscriber, text: string): SubscribableAddress | undefined {
    return [...this.subscribers.table.ofSubscriber(client.id)].find(this.namedBy(text));
  }

  private isVisible(scope: Scope, row: Subscription): boolean {
    return this.registry.catalogOf(scope).resources.view(scope).find(resourceForm(row)) !== undefined;
  }
}
