import { ResourceList } from '../core/resources/resource-list.js';
import { patternOf, type ResourcePattern } from '../core/resources/resource-pattern.js';
import { resourceForm, type ResourceAddress } from '../core/resources/resource-uri.js';
import { EVERYTHING } from '../core/scope.js';
import type { SubscriptionTable } from '../core/subscriptions/subscription-table.js';
import type { Registry } from '../registry/registry.service.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { findMatches, matchesIn, type PatternMatches } from './pattern-matches.js';

/** What clients want to hear of, resource by resource: a pattern wants what there is. */
export class WantedResources {
  constructor(
    private readonly table: SubscriptionTable,
    private readonly registry: Registry,
    private readonly onTooMany: (server: string) => void,
  ) {}

  /** Whether anybody wants it. */
  has(server: string, uri: string): boolean {
    if (this.table.target(server, uri)) return true;
    return this.table.isWanted(server, uri) && this.isListed(server, uri);
  }

  *of(server: string): Iterable<string> {
    for (const { uri, pattern } of this.table.targetsOf(server)) yield* this.each(server, uri, pattern);
  }

  /** Whether this client does. */
  hasOf(subscriber: string, server: string, uri: string): boolean {
    if (this.table.find({ subscriber, server, uri })) return true;
    if (!this.isListed(server, uri)) return false;
    return this.table
      .covering(server, uri)
      .some((target) => target.pattern !== undefined && target.of(subscriber) !== undefined);
  }

  /** Where `counts` says so. */
  *ofClient(
    subscriber: string,
    server: string,
    counts: (id: string) => boolean = () => true,
  ): Iterable<string> {
    for (const row of this.table.ofSubscriber(subscriber))
      if (row.server === server && counts(row.id)) yield* this.concrete(row);
  }

  /** Who wants something of a server. */
  subscribersOf(server: string): Set<string> {
    const found = new Set<string>();
    for (const target of this.table.targetsOf(server))
      target.forEach(({ subscriber }) => found.add(subscriber));
    return found;
  }

  concrete({ server, uri }: ResourceAddress): Iterable<string> {
    return this.each(server, uri, patternOf(uri));
  }

  /** What is wanted by its name may be gone; there is no use in asking for that again and again. */
  isOffered(server: string, uri: string): boolean {
    return this.registry.catalog.resources.view(EVERYTHING).find(resourceForm({ server, uri })) !== undefined;
  }

  /** As far as anybody knows: a server that is new may not have said yet what it has. */
  isGone(server: string, uri: string): boolean {
    return this.listOf(server) !== ResourceList.EMPTY && !this.isOffered(server, uri);
  }

  /** What a pattern stands for now. Gives way, because lists may be long. */
  async matching(server: string, pattern: ResourcePattern): Promise<readonly string[]> {
    return this.within(server, await findMatches(this.listOf(server), pattern, sliceScheduler.start()));
  }

  private within(server: string, { uris, isCut }: PatternMatches): readonly string[] {
    if (isCut) this.onTooMany(server);
    return uris;
  }

  private each(server: string, uri: string, pattern: ResourcePattern | undefined): Iterable<string> {
    return pattern ? this.within(server, matchesIn(this.listOf(server), pattern)) : [uri];
  }

  private isListed(server: string, uri: string): boolean {
    return this.listOf(server).find(uri) !== undefined;
  }

  private listOf(server: string): ResourceList {
    const { servers } = this.registry.catalog;
    return servers.find(({ id }) => id === server)?.listing.resources ?? ResourceList.EMPTY;
  }
}
