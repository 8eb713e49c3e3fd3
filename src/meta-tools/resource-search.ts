import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SessionScope } from '../core/catalog/session-scope.js';
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
  readonly limit: number;
  /** A media type, or a wildcard such as `image/*`. */
  readonly mimeType?: string | undefined;
}

/** Full-text search over resources, with one index per server that follows the catalog. */
@Injectable()
export class ResourceSearch implements OnModuleInit {
  /** By server id. */
  private readonly servers = new Map<string, ServerResourceIndex>();

  private readonly sessionIndexes = new WeakMap<ResourceList, ServerResourceIndex>();

  constructor(private readonly registry: Registry) {}

  onModuleInit(): void {
    this.registry.onChange((change) => this.updateIndexes(change));
  }

  /** Best match first. Waits until the index is up to date. A result may have been removed from the catalog meanwhile. */
  async search(query: string, { scope, limit, mimeType }: ResourceQuery): Promise<Resource[]> {
    const indexes = await this.indexes(scope);
    const kind = mimeType === undefined ? undefined : mediaTypeFilter(mimeType);
    const found = await slicedSearch(indexes, query, { limit, kind }, sliceScheduler.start());
    return found.map(({ resource }) => resource);
  }

  /** All resources that contain every word, in no particular order. */
  async matching(query: string, scope: Scope): Promise<Iterable<Resource>> {
    return resourcesOf(matching(await this.indexes(scope), query));
  }

  private async indexes(scope: Scope): Promise<SearchIndex<IndexedResource>[]> {
    const servers =
      scope instanceof SessionScope
        ? this.indexesOf(scope)
        : [...this.servers].flatMap(([id, server]) => (scope.allows(id) ? [server] : []));
    await Promise.all(servers.map((server) => server.update()));
    return servers.map(({ index }) => index);
  }

  /** The indexes for a session that has other lists than those of the shared links. */
  private indexesOf(scope: SessionScope): readonly ServerResourceIndex[] {
    const visible = scope.catalog.servers.filter(({ id }) => scope.allows(id));
    return visible.flatMap(({ id, listing: { resources } }) =>
      resources === this.listOf(id) ? (this.servers.get(id) ?? []) : this.sessionIndex(resources),
    );
  }

  private sessionIndex(list: ResourceList): ServerResourceIndex {
    const index = this.sessionIndexes.get(list) ?? new ServerResourceIndex(() => list);
    this.sessionIndexes.set(list, index);
    return index;
  }

  private updateIndexes({ resources }: CatalogChange): void {
    for (const id of resources) {
      if (this.listOf(id) === undefined) {
        this.servers.delete(id);
        continue;
      }
      let server = this.servers.get(id);
      if (!server) {
        server = new ServerResourceIndex(() => this.listOf(id) ?? ResourceList.NOT_LISTED);
        this.servers.set(id, server);
      }
      void server.update();
    }
  }

  private listOf(id: string): ResourceList | undefined {
    return this.registry.catalog.server(id)?.listing.resources;
  }
}

function* resourcesOf(indexed: Iterable<IndexedResource>): Iterable<Resource> {
  for (const { resource } of indexed) yield resource;
}
