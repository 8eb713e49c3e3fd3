import { NameTable, type Definition, type Offer } from './name-table.js';
import type { NamingStyle } from './naming.js';

/** What one server offered at its last sync. */
export interface Listing {
  readonly tools: readonly Definition[];
  readonly prompts: readonly Definition[];
  /** What the server tells models about itself. */
  readonly instructions?: string | undefined;
}

/** A server as the catalog sees it: its listing and the decisions that bear on it. */
export interface ListedServer {
  readonly id: string;
  /** Its place among the servers, by the order of the configuration. */
  readonly rank: number;
  readonly listing: Listing;
  readonly style: NamingStyle;
  readonly disabledTools: ReadonlySet<string>;
}

/** Kinds of lists that can change, as the notifications name them. */
export type ListKind = 'tools' | 'prompts';

/** Per kind, the servers whose part of the list changed. */
export type CatalogChange = Readonly<Record<ListKind, ReadonlySet<string>>>;

/**
 * Everything all servers offer, at one moment. Immutable: a sync builds the next one and swaps the reference,
 * so that the lists, lookups and cursors of one request see one catalog, and the catalog is the list cache.
 */
export class Catalog {
  private constructor(
    /** By rank. */
    readonly servers: readonly ListedServer[],
    readonly tools: NameTable,
    readonly prompts: NameTable,
  ) {}

  static readonly EMPTY = new Catalog([], NameTable.EMPTY, NameTable.EMPTY);

  /** The next catalog; what did not change since this one is taken over, not built again. */
  next(servers: readonly ListedServer[], separator: string): Catalog {
    const tools = servers.map((server): Offer => {
      const { id, style, listing, disabledTools } = server;
      const definitions =
        disabledTools.size === 0
          ? listing.tools
          : listing.tools.filter((tool) => !disabledTools.has(tool.name));
      return { server: id, style, definitions };
    });
    const prompts = servers.map(({ id, style, listing }): Offer => {
      return { server: id, style, definitions: listing.prompts };
    });
    return new Catalog(
      servers,
      NameTable.build(tools, separator, this.tools),
      NameTable.build(prompts, separator, this.prompts),
    );
  }

  changesSince(previous: Catalog): CatalogChange {
    return {
      tools: this.tools.changedServers(previous.tools),
      prompts: this.prompts.changedServers(previous.prompts),
    };
  }
}
