import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import { DesiredServers } from '../backends/desired-servers.js';
import { Catalog, type CatalogChange } from '../core/catalog/catalog.js';
import { ResourceList } from '../core/resources/resource-list.js';
import type { ResourcePattern } from '../core/resources/resource-pattern.js';
import { Registry } from '../registry/registry.service.js';
import { SerialQueue } from '../lib/queues/serial-queue.js';
import { sliceScheduler, type Yield } from '../lib/slices/slices.js';
import { findMatches } from './pattern-matches.js';
import { Subscribers } from './subscribers.js';
import { UpstreamSubscriptions } from './upstream-subscriptions.js';
import { listOf } from './wanted-resources.js';

const URIS_PER_YIELD = 256;

/** The resources that a server listed, and the catalog in which they had their public URIs. */
interface ListedResources {
  readonly list: ResourceList;
  readonly catalog: Catalog;
}

/** The result of a comparison of two listings of a server. Only the first two members say what differs. */
interface ListingDifference {
  /** Own URIs of subscribed resources that only the earlier listing has. */
  readonly removed: ReadonlySet<string>;
  /** Own URIs of subscribed resources that only the later listing has. */
  readonly added: ReadonlySet<string>;
  /** All patterns that clients are subscribed to. */
  readonly patterns: readonly ResourcePattern[];
  /** All own URIs that clients are subscribed to. URIs that only patterns match are left out. */
  readonly resources: readonly string[];
}

/**
 * Compares successive listings of a server and tells `UpstreamSubscriptions` which subscribed resources were removed or
 * added. The resources of a disabled server count as removed.
 */
@Injectable()
export class ListingWatcher implements OnModuleInit {
  private readonly logger = new Logger('Subscriptions');
  private lastCatalog = Catalog.EMPTY;
  /**
   * By server: the listing with which its next listing is compared. An entry exists only while the server is not in the
   * catalog and has subscriptions.
   */
  private readonly lastListings = new Map<string, ListedResources>();
  /** Runs one comparison at a time, in the order of the listings. */
  private readonly comparisons = new SerialQueue();

  constructor(
    private readonly registry: Registry,
    private readonly backends: Backends,
    private readonly desired: DesiredServers,
    private readonly subscribers: Subscribers,
    private readonly upstreams: UpstreamSubscriptions,
  ) {}

  onModuleInit(): void {
    this.registry.onChange((change, catalog) => this.catalogChanged(change, catalog));
    // The registry reports no change when a server without resources joins the catalog.
    this.backends.onSynced(({ id, listing }) => {
      if (listing?.resources === ResourceList.EMPTY) this.compareWithLastListing(id, listing.resources);
    });
    // This listener runs before the backends change: a server that was enabled until now still has a backend.
    this.desired.onChange((servers) => {
      for (const id of this.subscribers.table.servers)
        if (servers.get(id)?.enabled === false && this.backends.find(id)) this.serverDisabled(id);
    });
    // When a server that is not in the catalog is removed from the configuration, the registry reports no change. The
    // subscriptions to the server end, however, and its entry is deleted with the last of them.
    this.subscribers.onRemove(({ server }) => {
      if (this.subscribers.table.countOfServer(server) === 0) this.lastListings.delete(server);
    });
  }

  private catalogChanged({ resources: changedServers }: CatalogChange, catalog: Catalog): void {
    const before = this.lastCatalog;
    this.lastCatalog = catalog;
    for (const id of changedServers) {
      const list = listOf(catalog, id);
      if (!this.lastListings.has(id))
        this.lastListings.set(id, { list: listOf(before, id), catalog: before });
      // While a server is being replaced, the catalog does not contain it. Its resources do not count as removed.
      if (list !== ResourceList.NOT_LISTED) this.compareWithLastListing(id, list);
      else if (this.subscribers.table.countOfServer(id) === 0 || !this.isEnabled(id))
        this.lastListings.delete(id);
    }
  }

  private serverDisabled(server: string): void {
    const before = this.lastListings.get(server) ?? {
      list: listOf(this.lastCatalog, server),
      catalog: this.lastCatalog,
    };
    const trackedUris = [...this.upstreams.trackedUris(server)];
    this.upstreams.serverDisabled(server);
    // When the server is enabled again, its first listing is not compared with an earlier one.
    this.lastListings.delete(server);
    this.enqueue(server, () => this.reportDisabled(server, before, trackedUris));
  }

  private compareWithLastListing(server: string, list: ResourceList): void {
    const before = this.lastListings.get(server);
    this.lastListings.delete(server);
    if (!before || before.list === list) return;
    const after = { list, catalog: this.lastCatalog };
    this.enqueue(server, () => this.reportDifference(server, before, after));
  }

  private enqueue(server: string, comparison: () => Promise<void>): void {
    this.comparisons
      .run(comparison)
      .catch((error: unknown) =>
        this.logger.error({ message: 'comparison of listings failed', server, cause: String(error) }),
      );
  }

  private async reportDisabled(
    server: string,
    { list, catalog }: ListedResources,
    trackedUris: readonly string[],
  ): Promise<void> {
    const yieldIfDue = sliceScheduler.start();
    const lists = [list, ResourceList.EMPTY] as const;
    const { removed, resources } = await this.findDifference(server, lists, trackedUris, yieldIfDue);
    for (const uri of new Set([...resources, ...removed])) {
      // If the server was enabled again meanwhile, subscribers get an update when its new link has subscribed.
      if (this.isEnabled(server)) return;
      const address = { server, uri };
      // The deletion of a resource that was gone before has been reported already.
      if (!this.upstreams.wanted.isGone(address, catalog))
        this.upstreams.resourceGone(address, (scope) => catalog.resources.publicUri(address, scope));
      await yieldIfDue();
    }
  }

  private isEnabled(server: string): boolean {
    return this.desired.current.get(server)?.enabled ?? false;
  }

  private async reportDifference(
    server: string,
    before: ListedResources,
    after: ListedResources,
  ): Promise<void> {
    const trackedUris = this.upstreams.trackedUris(server);
    const yieldIfDue = sliceScheduler.start();
    const lists = [before.list, after.list] as const;
    const { removed, added, patterns } = await this.findDifference(server, lists, trackedUris, yieldIfDue);
    for (const uri of removed) {
      const address = { server, uri };
      this.upstreams.resourceGone(address, (scope) => before.catalog.resources.publicUri(address, scope));
      await yieldIfDue();
    }
    const isFirstListing = before.list === ResourceList.NOT_LISTED;
    for (const uri of added) {
      this.upstreams.resourceListed({ server, uri }, { isFirstListing });
      await yieldIfDue();
    }
    for (const pattern of patterns) await this.upstreams.subscribeMatches(server, pattern);
  }

  private async findDifference(
    server: string,
    [before, after]: readonly [ResourceList, ResourceList],
    trackedUris: Iterable<string>,
    yieldIfDue: Yield,
  ): Promise<ListingDifference> {
    const removed = new Set<string>();
    const added = new Set<string>();
    const compare = async (uris: Iterable<string>): Promise<void> => {
      let comparedCount = 0;
      for (const uri of uris) {
        const wasListed = before.find(uri) !== undefined;
        const isListed = after.find(uri) !== undefined;
        if (wasListed && !isListed) removed.add(uri);
        if (isListed && !wasListed) added.add(uri);
        if (++comparedCount % URIS_PER_YIELD === 0) await yieldIfDue();
      }
    };
    const targets = Array.from(this.subscribers.table.targetsOf(server));
    const patterns = targets.flatMap(({ pattern }) => pattern ?? []);
    const resources = targets.filter(({ pattern }) => !pattern).map(({ uri }) => uri);
    await compare(resources);
    for (const pattern of patterns)
      for (const list of [before, after]) await compare((await findMatches(list, pattern, yieldIfDue)).uris);
    // `findMatches` returns only the first matches of a pattern. Links may have subscribed other matches.
    if (patterns.length > 0) await compare(trackedUris);
    return { removed, added, patterns, resources };
  }
}
