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

const URIS_PER_YIELD = 256;

/** A resource or a pattern to which clients are subscribed. */
interface WantedTarget {
  readonly uri: string;
  /** Undefined for a single resource. */
  readonly pattern: ResourcePattern | undefined;
}

/** The URIs that a link has subscribed, or that the lost link before it had subscribed. */
export interface WatchedUris {
  readonly uris: Iterable<string>;
  /**
   * Whether the link is open, so that the server may hold subscriptions to these URIs. If so, each of these URIs counts
   * towards the maximum of a pattern until it is unsubscribed, even if the server does not list the resource any more.
   */
  readonly areHeld: boolean;
}

/**
 * The resources that clients are subscribed to, computed from the subscription table and the catalog. A pattern stands
 * for the listed resources that match it.
 */
export class WantedResources {
  constructor(
    private readonly subscribers: Pick<Subscribers, 'table' | 'owned'>,
    private readonly registry: Registry,
    private readonly onTooManyMatches: (server: string) => void,
  ) {}

  /** The desired state of a link. `owner` is the id of the owner of the link; undefined for a shared link. */
  desiredOn(server: string, owner: string | undefined): DesiredSubscriptions {
    return {
      isWanted: (uri) =>
        owner === undefined ? this.isWanted(server, uri) : this.isWantedBy(owner, server, uri),
      isOffered: (uri) => this.catalogsFor(owner).some((catalog) => isOffered(catalog, { server, uri })),
    };
  }

  /** The targets of the rows that `isIncluded` accepts. `owner` is the id of a link owner; undefined for all subscribers. */
  targetsOf(
    server: string,
    owner: string | undefined,
    isIncluded: (row: Subscription) => boolean,
  ): readonly WantedTarget[] {
    if (owner === undefined)
      return [...this.subscribers.table.targetsOf(server)].filter(({ subscriptions }) =>
        hasAny(subscriptions, isIncluded),
      );
    return [...this.subscribers.owned.of(server, owner)]
      .filter(isIncluded)
      .map((row) => ({ uri: row.uri, pattern: patternAt(row) }));
  }

  /**
   * Whether the server does not have the resource any more: the server has listed its resources, and this resource is
   * not listed, is not an instance of a template and is not linked (`ResourceUris`).
   */
  isGone(address: ResourceAddress, catalog = this.registry.catalog): boolean {
    return (
      listOf(catalog, address.server) !== ResourceList.NOT_LISTED &&
      !isOffered(catalog, address) &&
      !this.registry.resourceUris.isLinked(address, catalog)
    );
  }

  /** The resource of a subscription, or the resources that match its pattern, up to `MAX_PATTERN_MATCHES`. */
  async urisOf(row: SubscribableAddress, watched: WatchedUris): Promise<Iterable<string>> {
    const pattern = patternAt(row);
    return pattern ? this.matching(row.server, pattern, watched) : [row.uri];
  }

  /**
   * The listed resources that match a pattern, up to `MAX_PATTERN_MATCHES`: first those that are watched already, then
   * the others in the order of the list. Works in slices, because lists may be long.
   */
  async matching(server: string, pattern: ResourcePattern, watched: WatchedUris): Promise<Iterable<string>> {
    const yieldIfDue = sliceScheduler.start();
    const { uris, isTruncated } = await findMatches(this.listOf(server), pattern, yieldIfDue);
    if (isTruncated) this.onTooManyMatches(server);
    // All matches fit into the maximum, because no other URI counts towards it.
    else if (!watched.areHeld) return uris;
    const selected = new Set<string>();
    let maxSelected = MAX_PATTERN_MATCHES;
    let comparedCount = 0;
    for (const uri of watched.uris) {
      if (++comparedCount % URIS_PER_YIELD === 0) await yieldIfDue();
      if (selected.size >= maxSelected) return selected;
      if (!pattern.matches(uri)) continue;
      if (this.isListed(server, uri)) selected.add(uri);
      // The server may hold this subscription too, so it counts towards the maximum.
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
   * The catalogs with the resources that can be subscribed over a link. A link with an owner has two: subscribers can
   * subscribe to resources that the server lists over this link, and their patterns match resources that the server lists
   * over the shared link.
   */
  private catalogsFor(owner: string | undefined): readonly Catalog[] {
    const { catalog } = this.registry;
    return owner === undefined ? [catalog] : [catalog, this.registry.catalogOfOwner(owner)];
  }

  private isListed(server: string, uri: string): boolean {
    return this.listOf(server).find(uri) !== undefined;
  }

  private listOf(server: string): ResourceList {
    return listOf(this.registry.catalog, server);
  }
}

/** The resources that the server has listed, or `NOT_LISTED`. */
export const listOf = (catalog: Catalog, server: string): ResourceList =>
  catalog.server(server)?.listing.resources ?? ResourceList.NOT_LISTED;

const isOffered = (catalog: Catalog, address: ResourceAddress): boolean =>
  catalog.resources.view(EVERYTHING).find(resourceForm(address)) !== undefined;

function hasAny(rows: Iterable<Subscription>, isIncluded: (row: Subscription) => boolean): boolean {
  for (const row of rows) if (isIncluded(row)) return true;
  return false;
}
