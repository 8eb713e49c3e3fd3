import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { CatalogChange } from '../core/catalog.js';
import { ResourceList, type Resource } from '../core/resource-list.js';
import type { Scope } from '../core/scope.js';
import { matching, search } from '../core/search/search.js';
import { SearchIndex } from '../core/search/search-index.js';
import { Registry } from '../registry/registry.service.js';
import { turns } from '../registry/turns.js';
import { fieldsOf } from './search-fields.js';

export interface ResourceQuery {
  readonly scope: Scope;
  readonly limit: number;
  /** A type, or all of one kind: `image/*`. */
  readonly mimeType?: string | undefined;
}

/** The index of one server, and the list it was last brought in step with. */
class IndexedServer {
  readonly index = new SearchIndex<Resource>(byUri);
  private indexed = ResourceList.EMPTY;
  private updating: Promise<void> | undefined;

  constructor(private readonly current: () => ResourceList) {}

  /** Resolves when the index has what the server lists now. Gives way while it works. */
  update(): Promise<void> {
    return (this.updating ??= this.follow().finally(() => (this.updating = undefined)));
  }

  private async follow(): Promise<void> {
    for (let next = this.current(); next !== this.indexed; next = this.current()) {
      await this.replace(this.indexed, next);
      this.indexed = next;
    }
  }

  /** Both are sorted: what is only in one of them is found by walking along both. */
  private async replace(old: ResourceList, next: ResourceList): Promise<void> {
    const pause = turns.pause();
    let o = 0;
    let n = 0;
    while (o < old.size || n < next.size) {
      if (((o + n) & 63) === 0) await pause();
      const was = old.byUri[o];
      const is = next.byUri[n];
      const isSame = was && is && was.uri === is.uri;
      if (was && (isSame || !is || was.uri < is.uri)) {
        this.index.remove(was);
        o++;
      }
      if (is && (isSame || !was || is.uri < was.uri)) {
        this.index.add(is, fieldsOf(is.text));
        n++;
      }
    }
  }
}

/** Full-text search in the resources, an index per server, kept in step with the catalog. */
@Injectable()
export class ResourceSearch implements OnModuleInit {
  private readonly servers = new Map<string, IndexedServer>();

  constructor(private readonly registry: Registry) {}

  onModuleInit(): void {
    this.registry.onChange((change) => this.follow(change));
  }

  /** Best first. Waits until everything that is listed can be found. */
  async search(query: string, { scope, limit, mimeType }: ResourceQuery): Promise<Resource[]> {
    const indexes = await this.indexes(scope);
    return search(indexes, query, { limit, filter: mimeType === undefined ? undefined : ofType(mimeType) });
  }

  /** Everything that has all the words, in no order. */
  async matching(query: string, scope: Scope): Promise<Iterable<Resource>> {
    return matching(await this.indexes(scope), query);
  }

  private async indexes(scope: Scope): Promise<SearchIndex<Resource>[]> {
    const servers = [...this.servers].flatMap(([id, server]) => (scope.allows(id) ? [server] : []));
    await Promise.all(servers.map((server) => server.update()));
    return servers.map(({ index }) => index);
  }

  private follow({ resources }: CatalogChange): void {
    for (const id of resources) {
      if (this.listOf(id) === undefined) {
        this.servers.delete(id);
        continue;
      }
      let server = this.servers.get(id);
      if (!server) {
        server = new IndexedServer(() => this.listOf(id) ?? ResourceList.EMPTY);
        this.servers.set(id, server);
      }
      void server.update();
    }
  }

  private listOf(id: string): ResourceList | undefined {
    return this.registry.catalog.servers.find((server) => server.id === id)?.listing.resources;
  }
}

const byUri = (a: Resource, b: Resource): number =>
  a.uri < b.uri ? -1 : a.uri > b.uri ? 1 : a.server < b.server ? -1 : 1;

function ofType(wanted: string): (resource: Resource) => boolean {
  const type = wanted.toLowerCase();
  const kind = type.endsWith('/*') ? type.slice(0, -1) : undefined;
  return ({ text }) => {
    const own = fieldsOf(text).mimeType?.toLowerCase().split(';', 1)[0]!.trim();
    return own !== undefined && (kind ? own.startsWith(kind) : own === type);
  };
}
