import type { Definition } from '../naming/catalog-entry.js';
import { NameTable } from '../naming/name-table.js';
import type { NamingStyle } from '../naming/naming.js';
import { ResourceDirectory } from '../resources/resource-directory.js';
import { ResourceList } from '../resources/resource-list.js';
import type { ResourceTemplate } from '../resources/resource-template.js';

/** What one server listed at its last sync. */
export interface Listing {
  readonly tools: readonly Definition[];
  readonly prompts: readonly Definition[];
  readonly resources: ResourceList;
  readonly templates: readonly ResourceTemplate[];
  /** The server's instructions for models. */
  readonly instructions?: string | undefined;
}

/**
 * The listing of a server that has not listed anything yet. A member that is the same object as here has not been
 * fetched. A member that was fetched is another object, even if it is empty.
 */
export const UNFETCHED_LISTING: Listing = {
  tools: [],
  prompts: [],
  resources: ResourceList.NOT_LISTED,
  templates: [],
};

/** A server in the catalog: its listing, and the settings that decide how clients see it. */
export interface ListedServer {
  readonly id: string;
  /** Position of the server in the configuration. */
  readonly rank: number;
  readonly listing: Listing;
  readonly style: NamingStyle;
  readonly disabledTools: ReadonlySet<string>;
}

/** The kinds of lists for which MCP has `list_changed` notifications. Templates belong to the kind `resources`. */
export type ListKind = 'tools' | 'prompts' | 'resources';
export const LIST_KINDS: readonly ListKind[] = ['tools', 'prompts', 'resources'];

/** For each kind of list, the servers whose entries changed. */
export type CatalogChange = Readonly<Record<ListKind, ReadonlySet<string>>>;

/**
 * Snapshot of everything that the servers offer. Immutable: after a sync, the registry builds the next catalog and
 * swaps the reference, so that one request sees one catalog. The next catalog reuses each table that did not change,
 * together with the cached list pages of its views.
 */
export class Catalog {
  private readonly byId: ReadonlyMap<string, ListedServer>;

  constructor(
    /** Sorted by rank. */
    readonly servers: readonly ListedServer[],
    readonly tools: NameTable,
    readonly prompts: NameTable,
    readonly resources: ResourceDirectory,
  ) {
    this.byId = new Map(servers.map((server) => [server.id, server]));
  }

  static readonly EMPTY = new Catalog([], NameTable.EMPTY, NameTable.EMPTY, ResourceDirectory.EMPTY);

  server(id: string): ListedServer | undefined {
    return this.byId.get(id);
  }

  /**
   * The catalog without one server. The duration does not depend on the size of the listings, because the parts of the other
   * servers are reused unchanged. Therefore, until the next build, a resource of another server may keep the public URI that
   * it has because of a conflict with the removed server.
   */
  without(id: string): Catalog {
    if (!this.byId.has(id)) return this;
    return new Catalog(
      this.servers.filter((server) => server.id !== id),
      this.tools.without(id),
      this.prompts.without(id),
      this.resources.only((server) => server !== id),
    );
  }

  changesSince(previous: Catalog): CatalogChange {
    return {
      tools: this.tools.changedServers(previous.tools),
      prompts: this.prompts.changedServers(previous.prompts),
      resources: this.resources.changedServers(previous.resources),
    };
  }
}
