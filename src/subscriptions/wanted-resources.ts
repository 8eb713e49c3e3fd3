import type { Catalog } from '../core/catalog/catalog.js';
import { ResourceList } from '../core/resources/resource-list.js';
import {
  patternAt,
  type ResourcePattern,
  type SubscribableAddress,
} from '../core/resources/resource-pattern.js';
import { resourceForm, type ResourceAddress } from '../core/resources/resource-uri.js';
import { EVERYTHING } from '../core/scope.js';
import type { Subscription, SubscriptionTarget } from '../core/subscriptions/subscription-target.js';
import type { DesiredSubscriptions } from '../core/subscriptions/upstream.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import type { Registry } from '../registry/registry.service.js';
import { findMatches, MAX_PATTERN_MATCHES } from './pattern-matches.js';
import type { Subscribers } from './subscribers.js';

/** A resource or a pattern that is subscribed to. */
interface WantedTarget {
  readonly uri: string;
  readonly pattern: ResourcePattern | undefined;
}

/** The URIs that a link has subscribed, or that the previous link had subscribed. */
export interface WatchedUris {
  readonly uris: Iterable<string>;
  /**
   * Whether the link is still open, so that the server may have subscriptions to these URIs. Each of them counts towards the
   * maximum of a pattern until it is unsubscribed, even if the server does not list the resource any more.
   */
  readonly areHeld: boolean;
}

/**
 * The resources that clients are subscribed to, computed from the subscription table and the catalog. A pattern stands for
 * the listed resources that match it.
 */
export class WantedResources {
  constructor(
    private readonly subscribers: Pick<Subscribers, 'table' | 'owned'>,
    private readonly registry: Registry,
    private readonly onTooManyMatches: (server: string) => void,
  ) {}

  /** The desired state of a link with this owner, or of the link that all clients share. */
  desiredOn(server: string, owner: string | undefined): DesiredSubscriptions {
    return {
      isWanted: (uri) =>
        owner === undefined ? this.isWanted(server, uri) : this.isWantedBy(owner, server, uri),
      isOffered: (uri) => this.catalogsFor(owner).some((catalog) => isOffered(catalog, { server, uri })),
    };
  }

  /** The targets of the included rows: of the rows of one link owner, or of all rows if `owner` is undefined. */
  targetsOf(
    server: string,
    owner: string | undefined,
    isIncluded: (row: Subscription) => boolean,
  ): readonly WantedTarget[] {
    if (owner === undefined)
      return [...this.subscribers.table.targetsOf(server)].filter((target) => some(target, isIncluded));
    return [...this.subscribers.owned.of(server, owner)]
      .filter(isIncluded)
      .map((row) => ({ uri: row.uri, pattern: patternAt(row) }));
  }

  /**
   * Whether the server has listed its resources, and this one is neither listed, nor an instance of a template, nor linked.
   */
  isGone(address: ResourceAddress, catalog = this.registry.catalog): boolean {
    return (
      listOf(catalog, address.server) !== ResourceList.NOT_LISTED &&
      !isOffered(catalog, address) &&
      !this.registry.links.isLinked(address, catalog)
    );
  }

  /** The resource of a subscription, or the resources of its pattern, up to the maximum. */
  async urisOf(row: SubscribableAddress, watched: WatchedUris): Promise<Iterable<string>> {
    const pattern = patternAt(row);
    return pattern ? this.matching(row.server, pattern, watched) : [row.uri];
  }

  /**
   * The listed resources that match a pattern, up to the maximum: first those that are watched already, then the rest in the
   * order of the list. Sliced, because lists may be long.
   */
  async matching(server: string, pattern: ResourcePattern, watched: WatchedUris): Promise<Iterable<string>> {
    const yieldIfDue = sliceScheduler.start();
    const { uris, isTruncated } = await findMatches(this.listOf(server), pattern, yieldIfDue);
    if (isTruncated) this.onTooManyMatches(server);
    // There are not too many matches, and no other URI counts towards the maximum.
    else if (!watched.areHeld) return uris;
    const selected = new Set<string>();
    let maxSelected = MAX_PATTERN_MATCHES;
    let compared = 0;
    for (const uri of watched.uris) {
      if (++compared % 256 === 0) await yieldIfDue();
      if (selected.size >= maxSelected) return selected;
      if (!pattern.matches(uri)) continue;
      if (this.isListed(server, uri)) selected.add(uri);
      else if (watched.areHeld) maxSelected--;
    }
    for (const uri of uris) if (selected.size < maxSelected) selected.add(uri);
    return selected;
  }

  private isWanted(server: string, uri: string): boolean {
    const { table } = this.subscribers;
    if (table.resource(server, uri)) return true;
    return table.isWanted(server, uri) && this.isListed(server, uri);
  }

  private isWantedBy(owner: string, server: string, uri: string): boolean {
    const { table } = this.subscribers;
    const resource = table.resource(server, uri);
    if (resource && this.isSubscribed(owner, resource)) return true;
    if (!this.isListed(server, uri)) return false;
    return table
      .covering(server, uri)
      .some((target) => target.pattern !== undefined && this.isSubscribed(owner, target));
  }

  private isSubscribed(owner: string, target: SubscriptionTarget): boolean {
    for (const subscriber of this.subscribers.owned.subscribersOf(owner))
      if (target.subscriptionOf(subscriber)) return true;
    return false;
  }

  /**
   * The catalogs that offer resources on a link. Subscribers can subscribe to what their own link lists, and their patterns
   * match what the shared link lists.
   */
  private catalogsFor(owner: string | undefined): readonly Catalog[] {
    const { catalog } = this.registry;
    return owner === undefined ? [catalog] : [catalog, this.registry.catalogOfSession(owner)];
  }

  private isListed(server: string, uri: string): boolean {
    return this.listOf(server).find(uri) !== undefined;
  }

  private listOf(server: string): ResourceList {
    return listOf(this.registry.catalog, server);
  }
}

export const listOf = (catalog: Catalog, server: string): ResourceList =>
  catalog.server(server)?.listing.resources ?? ResourceList.NOT_LISTED;

const isOffered = (catalog: Catalog, address: ResourceAddress): boolean =>
  catalog.resources.view(EVERYTHING).find(resourceForm(address)) !== undefined;

function some(rows: Iterable<Subscription>, isIncluded: (row: Subscription) => boolean): boolean {
  for (const row of rows) if (isIncluded(row)) return true;
  return false;
}
