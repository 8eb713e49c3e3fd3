import { Injectable, type OnModuleInit } from '@nestjs/common';
import { OwnerScope } from '../core/catalog/owner-scope.js';
import type { CatalogChange } from '../core/catalog/catalog.js';
import { ResourceList, type Resource } from '../core/resources/resource-list.js';
import type { Scope } from '../core/scope.js';
import { matching, slicedSearch } from '../lib/text-index/search.js';
import type { SearchIndex } from '../lib/text-index/search-index.js';
import { Registry } from '../registry/registry.service.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { ServerResourceIndex, type IndexedResource } from './server-resource-index.js';
import { mediaTypeFilter } from './media-types.js';

interface ResourceQuery {
  readonly scope: Scope;
  /** Only resources of this server. */
  readonly server?: string | undefined;
  readonly limit: number;
  /** A media type, or a wildcard such as `image/*`. */
  readonly mimeType?: string | undefined;
}

/** Full-text search over resources. Each server has an index, which is updated when the catalog changes. */
@Injectable()
export class ResourceSearch implements OnModuleInit {
  /** By server id: the index of the list that the server sent over the shared link. */
  private readonly sharedIndexes = new Map<string, ServerResourceIndex>();
  /** By list: the index of a list that a server sent over links that are not shared (`isolation: session`). */
  private readonly ownedIndexes = new WeakMap<ResourceList, ServerResourceIndex>();

  constructor(private readonly registry: Registry) {}

  onModuleInit(): void {
    this.registry.onChange((change) => this.updateIndexes(change));
  }

  /**
   * The resources that match, best match first. Waits until the indexes are up to date. When the promise resolves, a
   * resource may have been removed from the catalog.
   */
  async search(query: string, { scope, server, limit, mimeType }: ResourceQuery): Promise<Resource[]> {
    const indexes = await this.upToDateIndexes(scope, server);
    const isWantedType = mimeType === undefined ? undefined : mediaTypeFilter(mimeType);
    const options = { limit, isKind: isWantedType };
    const found = await slicedSearch(indexes, query, options, sliceScheduler.start());
    return found.map(({ resource }) => resource);
  }

  /** All resources that contain every word, in no particular order. */
  async matching(query: string, scope: Scope, server?: string): Promise<Iterable<Resource>> {
    return resourcesOf(matching(await this.upToDateIndexes(scope, server), query));
  }

  /** The indexes of the servers in the scope, or of only `server`, after they have been updated. */
  private async upToDateIndexes(scope: Scope, server?: string): Promise<SearchIndex<IndexedResource>[]> {
    const isIncluded = (id: string): boolean => scope.allows(id) && (server === undefined || id === server);
    const indexes =
      scope instanceof OwnerScope
        ? this.indexesOfOwner(scope, isIncluded)
        : [...this.sharedIndexes].flatMap(([id, index]) => (isIncluded(id) ? [index] : []));
    await Promise.all(indexes.map((index) => index.update()));
    return indexes.map(({ index }) => index);
  }

  /** The indexes for the scope of a link owner. If the owner has no list of its own at a server, the shared index is used. */
  private indexesOfOwner(
    { catalog }: OwnerScope,
    isIncluded: (id: string) => boolean,
  ): readonly ServerResourceIndex[] {
    const visible = catalog.servers.filter(({ id }) => isIncluded(id));
    return visible.flatMap(({ id, listing: { resources } }) =>
      resources === this.listOf(id) ? (this.sharedIndexes.get(id) ?? []) : this.ownedIndex(resources),
    );
  }

  private ownedIndex(list: ResourceList): ServerResourceIndex {
    const index = this.ownedIndexes.get(list) ?? new ServerResourceIndex(() => list);
    this.ownedIndexes.set(list, index);
    return index;
  }

  private updateIndexes({ resources }: CatalogChange): void {
    for (const id of resources) {
      if (this.listOf(id) === undefined) {
        this.sharedIndexes.delete(id);
        continue;
      }
      let index = this.sharedIndexes.get(id);
      if (!index) {
        index = new ServerResourceIndex(() => this.listOf(id) ?? ResourceList.NOT_LISTED);
        this.sharedIndexes.set(id, index);
      }
      void index.update();
    }
  }

  private listOf(id: string): ResourceList | undefined {
    return this.registry.catalog.server(id)?.listing.resources;
  }
}

function* resourcesOf(indexed: Iterable<IndexedResource>): Iterable<Resource> {
  for (const { resource } of indexed) yield resource;
}
