import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Backend } from '../backends/backend.js';
import { Backends } from '../backends/backends.service.js';
import type { Link } from '../backends/link/link.js';
import { patternAt, type ResourcePattern } from '../core/resources/resource-pattern.js';
import type { ResourceAddress } from '../core/resources/resource-uri.js';
import type { Scope } from '../core/scope.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import type { LinkOwner } from '../mcp/mcp-context.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { LinkReconcilers } from './link-reconcilers.js';
import { MAX_PATTERN_MATCHES } from './pattern-matches.js';
import { SessionLinkOpener } from './session-link-opener.js';
import { Subscribers } from './subscribers.js';
import { SubscriptionConfirmation } from './subscription-confirmation.js';
import { ResourceUpdates } from './resource-updates.js';
import { watchedOn, type UpstreamLink, type UpstreamLinks } from './upstream-link.js';
import { WantedResources } from './wanted-resources.js';

/** If a link was open for longer than this when it is lost, its backoff starts again from the first delay. */
const STABLE_LINK_MS = 10_000;

/** How a resource appeared in a listing. */
interface Appearance {
  /** Whether the server had not listed its resources before. */
  readonly isFirstListing: boolean;
}

/**
 * Passes added and removed rows, listings and updates to the reconcilers of the live links. A server with
 * `isolation: session` has one link and one reconciler per link owner; other servers have one of each.
 */
@Injectable()
export class UpstreamSubscriptions implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Subscriptions');
  private readonly links: UpstreamLinks;
  private readonly reconcilers: LinkReconcilers;
  readonly wanted: WantedResources;
  private readonly sessionLinks: SessionLinkOpener;
  private readonly confirmation: SubscriptionConfirmation;
  /** Ids of rows whose clients wait for the confirmation. A new link does not subscribe them in the background. */
  private readonly pendingIds = new Set<string>();

  constructor(
    private readonly subscribers: Subscribers,
    private readonly updates: ResourceUpdates,
    registry: Registry,
    private readonly backends: Backends,
    private readonly metrics: Metrics,
  ) {
    const isPending = ({ id }: Subscription): boolean => this.pendingIds.has(id);
    this.wanted = new WantedResources(subscribers, registry, (server) =>
      this.logger.warn({ message: `only ${MAX_PATTERN_MATCHES} resources of a pattern are watched`, server }),
    );
    this.reconcilers = new LinkReconcilers(subscribers, this.wanted, updates, isPending);
    this.links = this.reconcilers.links;
    this.confirmation = new SubscriptionConfirmation(this.links, backends, subscribers);
    this.sessionLinks = new SessionLinkOpener(subscribers, backends, isPending);
  }

  onModuleInit(): void {
    this.metrics.exposeValue(
      'gauge',
      'gatehouse_upstream_subscriptions',
      'Upstream subscriptions at servers, and resources that the gateway polls.',
      () => this.links.subscriptionCount,
    );
    this.backends.onLink((backend, link) => this.sharedLinkChanged(backend, link));
    this.backends.onSessionLink((backend, link, owner) => this.sessionLinkOpened(backend, link, owner));
    this.backends.onReconfigured((backend) => this.reconcilers.reconfigured(backend));
    this.subscribers.onRemove((row) => this.rowRemoved(row));
    this.updates.onReceived(({ server, uri }, owner) =>
      this.links.find(server, owner)?.reconciler.updateReceived(uri),
    );
  }

  onApplicationShutdown(): void {
    this.sessionLinks.stop();
    this.links.clear();
  }

  /**
   * Resolves when the server has confirmed the resource of the row, or at least one resource of its pattern. Resources
   * of the pattern that the server did not confirm are retried in the background.
   */
  async confirm(row: Subscription): Promise<void> {
    this.pendingIds.add(row.id);
    let uris: readonly string[];
    let confirmed: ReadonlySet<string>;
    try {
      uris = [...(await this.watchedUris(row))];
      confirmed = await this.confirmation.confirm(row, uris);
    } finally {
      this.pendingIds.delete(row.id);
    }
    // A link that was opened meanwhile did not subscribe the URIs of this row, because the row was pending. Therefore
    // the confirmed URIs are marked dirty.
    const link = this.linkOf(row);
    if (!link) this.sessionLinks.openFor(row);
    for (const uri of uris)
      if (confirmed.has(uri)) link?.reconciler.markDirty(uri);
      else link?.reconciler.retryLater(uri);
  }

  /** The resource of the row, or the resources that match its pattern, up to `MAX_PATTERN_MATCHES`. */
  watchedUris(row: Subscription): Promise<Iterable<string>> {
    return this.wanted.urisOf(row, watchedOn(this.linkOf(row)));
  }

  /** Subscribes the URIs of a row for which no client waits. */
  subscribeInBackground(row: Subscription): void {
    this.sessionLinks.openFor(row);
    const link = this.linkOf(row);
    if (link) void this.reconcilers.markRowDirty(row, link);
  }

  /** Call this when a server lists a subscribed resource for the first time, or lists it again. */
  resourceListed({ server, uri }: ResourceAddress, { isFirstListing }: Appearance): void {
    // Resources that only patterns match are subscribed by subscribeMatches, up to the maximum.
    const hasOwnRow = this.subscribers.table.resource(server, uri) !== undefined;
    for (const { owner, reconciler } of this.links.of(server)) {
      if (reconciler.holds(uri)) {
        // The first listing of a server says nothing about changes of a resource that is already subscribed.
        if (!isFirstListing) this.updates.reportPossibleChange(server, uri, owner);
      } else if (hasOwnRow) reconciler.resourceListed(uri);
    }
  }

  /** Call this when a server no longer lists a resource that has subscribers. Sends its deletion to them. */
  resourceGone(address: ResourceAddress, publicUri: (scope: Scope) => string): void {
    for (const { reconciler } of this.links.of(address.server)) reconciler.resourceGone(address.uri);
    this.updates.reportDeletion(address, publicUri);
  }

  /** Closes the reconcilers of the server's links. The links may stay open until calls in flight end. */
  serverDisabled(server: string): void {
    this.links.deleteAll(server);
  }

  /** Call this after a new listing. Subscribes the resources that match a pattern, up to `MAX_PATTERN_MATCHES`. */
  async subscribeMatches(server: string, pattern: ResourcePattern): Promise<void> {
    for (const link of this.links.of(server))
      for (const uri of await this.wanted.matching(server, pattern, watchedOn(link)))
        link.reconciler.resourceListed(uri);
  }

  /** The URIs that the links of a server have subscribed, or are about to subscribe. */
  *trackedUris(server: string): Iterable<string> {
    for (const { reconciler } of this.links.of(server)) yield* reconciler.uris;
  }

  private rowRemoved(row: Subscription): void {
    this.reconcilers.previousMatches.rowRemoved(row);
    const link = this.linkOf(row);
    // On a shared link, other clients may be subscribed to the same target.
    if (!link || (link.owner === undefined && this.subscribers.table.targetAt(row))) return;
    const pattern = patternAt(row);
    if (pattern) link.reconciler.patternRemoved((uri) => pattern.matches(uri));
    else link.reconciler.rowRemoved(row.uri);
  }

  private sharedLinkChanged(backend: Backend, link: Link | undefined): void {
    this.links.delete(backend.id);
    if (!link) return;
    if (backend.hasSessionLinks) this.sessionLinks.openAll(backend.id);
    else this.reconcilers.attach(backend, link, undefined);
  }

  private sessionLinkOpened(backend: Backend, link: Link, { id: owner }: LinkOwner): void {
    const openedAt = performance.now();
    this.reconcilers.attach(backend, link, owner);
    void link.closed.then(() => {
      if (this.links.find(backend.id, owner)?.link !== link) return;
      this.links.delete(backend.id, owner);
      const wasStable = performance.now() - openedAt > STABLE_LINK_MS;
      this.sessionLinks.linkLost({ server: backend.id, owner }, { wasStable });
    });
  }

  private linkOf(row: Subscription): UpstreamLink | undefined {
    const { server } = row;
    const isOwn = this.backends.find(server)?.hasSessionLinks;
    return this.links.find(server, isOwn ? this.subscribers.owned.ownerOf(row) : undefined);
  }
}
