import type { Steps } from '../../lib/slices/run-sliced.js';
import { META_TOOL_SERVER, type Definition } from '../naming/catalog-entry.js';
import { NameTableBuilder } from '../naming/name-table-builder.js';
import { ResourceDirectoryBuilder } from '../resources/resource-directory-builder.js';
import type { ResourceStyle } from '../resources/resource-uri.js';
import type { ResourceDirectory } from '../resources/resource-directory.js';
import { Catalog, UNFETCHED_LISTING, type ListedServer, type Listing } from './catalog.js';

/** How public names are made from the servers' own names. */
export interface NamingStyles {
  readonly separator: string;
  readonly resources: ResourceStyle;
}

/** Listings by server id. */
export type Listings = ReadonlyMap<string, Listing>;

/** Lower than the rank of every server: with style `never`, the owner with the lowest rank gets the name. */
const META_TOOL_RANK = -1;

/**
 * Builds the next catalog from the previous one and one server that changed. The generator methods are jobs that run in
 * steps. `build` includes the changes of the jobs that have ended. At most one job for names (tools and prompts) and
 * one job for resources may run at the same time.
 */
export class CatalogBuilder {
  private readonly servers = new Map<string, ListedServer>();
  private tools: NameTableBuilder;
  private prompts: NameTableBuilder;
  private resources: ResourceDirectoryBuilder;

  /**
   * `onMatchLimit` is called when a URI or identifier was not matched with all templates of a server, because that would
   * take too long.
   */
  constructor(
    private readonly styles: NamingStyles,
    private readonly onMatchLimit: (server: string) => void = () => {},
  ) {
    this.tools = new NameTableBuilder(styles.separator);
    this.prompts = new NameTableBuilder(styles.separator);
    this.resources = new ResourceDirectoryBuilder(styles.resources);
  }

  /** Replaces the ids of the configured servers, including those that are disabled or have not listed. */
  setServers(ids: ReadonlySet<string>): void {
    this.tools.setServers(ids);
    this.prompts.setServers(ids);
    this.resources.setServers(ids);
  }

  /**
   * A job for names: replaces the tools and prompts of a server. If the server has not sent one of these lists yet, the
   * table for it does not contain the server.
   */
  *putNames(server: ListedServer): Steps {
    const { id, rank, style, listing, disabledTools: disabledNames } = server;
    const { tools, prompts } = listing;
    // A list that is the object in `UNFETCHED_LISTING` was not sent. A list that was sent is a different object, even if empty.
    if (tools === UNFETCHED_LISTING.tools) yield* this.tools.remove(id);
    else yield* this.tools.put({ server: id, rank, style, definitions: enabledTools(server), disabledNames });
    if (prompts === UNFETCHED_LISTING.prompts) yield* this.prompts.remove(id);
    else yield* this.prompts.put({ server: id, rank, style, definitions: prompts });
    this.servers.set(id, server);
  }

  /**
   * A job for resources: replaces the resources and templates of a server. `build` leaves them out until `putNames` has
   * run for the server.
   */
  *putResources({ id, rank, listing: { resources, templates } }: ListedServer): Steps {
    const onMatchLimit = (): void => this.onMatchLimit(id);
    yield* this.resources.put({ server: id, rank, resources, templates, onMatchLimit });
  }

  /**
   * A job for names: returns tables of tools and prompts in which `listings` replace the listings of the same servers.
   */
  *namesWith(listings: Listings): Steps<Pick<Catalog, 'tools' | 'prompts'>> {
    const fork = new CatalogBuilder(this.styles, this.onMatchLimit);
    fork.tools = yield* this.tools.fork();
    fork.prompts = yield* this.prompts.fork();
    for (const server of this.serversWith(listings)) yield* fork.putNames(server);
    return { tools: fork.tools.table, prompts: fork.prompts.table };
  }

  /** A job for resources: returns a directory in which `listings` replace the listings of the same servers. */
  *resourcesWith(listings: Listings): Steps<ResourceDirectory> {
    const fork = new CatalogBuilder(this.styles, this.onMatchLimit);
    fork.resources = yield* this.resources.fork();
    for (const server of this.serversWith(listings)) yield* fork.putResources(server);
    return fork.resources.directory;
  }

  *putMetaTools(definitions: readonly Definition[]): Steps {
    yield* this.tools.put({ server: META_TOOL_SERVER, rank: META_TOOL_RANK, style: 'never', definitions });
  }

  *removeNames(id: string): Steps {
    yield* this.tools.remove(id);
    yield* this.prompts.remove(id);
    this.servers.delete(id);
  }

  *removeResources(id: string): Steps {
    yield* this.resources.remove(id);
  }

  /** Returns the new catalog. Tables that did not change are the same objects as in the previous catalog. */
  build(): Catalog {
    const { directory } = this.resources;
    const servers = [...this.servers.values()]
      .map((server) => this.withBuiltResources(server))
      .toSorted((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
    const hasNames = (id: string): boolean => this.servers.has(id);
    return new Catalog(servers, this.tools.table, this.prompts.table, directory.only(hasNames));
  }

  /** The servers of `listings` that are in the catalog, each with its listing from `listings`. */
  private *serversWith(listings: Listings): Iterable<ListedServer> {
    for (const [id, listing] of listings) {
      const server = this.servers.get(id);
      if (server) yield { ...server, listing };
    }
  }

  /**
   * The server with the resources that the directory contains. These are older than the resources of the listing until
   * the job for resources has ended.
   */
  private withBuiltResources(server: ListedServer): ListedServer {
    const { resources, templates } = this.resources.directory.offerOf(server.id) ?? UNFETCHED_LISTING;
    const { listing } = server;
    return listing.resources === resources && listing.templates === templates
      ? server
      : { ...server, listing: { ...listing, resources, templates } };
  }
}

const enabledTools = ({ listing: { tools }, disabledTools }: ListedServer): readonly Definition[] =>
  disabledTools.size === 0 ? tools : tools.filter(({ name }) => !disabledTools.has(name));
