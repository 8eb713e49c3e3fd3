import type { Steps } from '../../lib/slices/run-sliced.js';
import { META_TOOL_SERVER, type Definition } from '../naming/catalog-entry.js';
import { NameTableBuilder } from '../naming/name-table-builder.js';
import { ResourceDirectoryBuilder } from '../resources/resource-directory-builder.js';
import type { ResourceStyle } from '../resources/resource-uri.js';
import type { ResourceDirectory } from '../resources/resource-directory.js';
import { Catalog, EMPTY_LISTING, type ListedServer, type Listing } from './catalog.js';

/** How public names are made from the servers' own names. */
export interface NamingStyles {
  readonly separator: string;
  readonly resources: ResourceStyle;
}

/** By server id. */
export type Listings = ReadonlyMap<string, Listing>;

/** Less than the rank of every server, so that no server takes the name of a meta tool. */
const META_TOOL_RANK = -1;

/**
 * Builds the next catalog from the previous one and one server that changed. The `put…` and `remove…` methods are jobs
 * that run in steps; `build` includes only jobs that have ended. One job for names and one for resources may run at the
 * same time.
 */
export class CatalogBuilder {
  private readonly servers = new Map<string, ListedServer>();
  private tools: NameTableBuilder;
  private prompts: NameTableBuilder;
  private resources: ResourceDirectoryBuilder;

  constructor(private readonly styles: NamingStyles) {
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

  /** Replaces the tools and prompts of a server. Removes those of a kind that the server has not listed yet. */
  *putNames(server: ListedServer): Steps {
    const { id, rank, style, listing, disabledTools: disabledNames } = server;
    const { tools, prompts } = listing;
    if (tools === EMPTY_LISTING.tools) yield* this.tools.remove(id);
    else yield* this.tools.put({ server: id, rank, style, definitions: enabledTools(server), disabledNames });
    if (prompts === EMPTY_LISTING.prompts) yield* this.prompts.remove(id);
    else yield* this.prompts.put({ server: id, rank, style, definitions: prompts });
    this.servers.set(id, server);
  }

  /** Replaces the resources and templates of a server. `build` includes them after `putNames` of the server has ended. */
  *putResources({ id, rank, listing: { resources, templates } }: ListedServer): Steps {
    yield* this.resources.put({ server: id, rank, resources, templates });
  }

  /** The tables of tools and prompts with `listings` in place of the servers' own. Runs as a job for names. */
  *namesWith(listings: Listings): Steps<Pick<Catalog, 'tools' | 'prompts'>> {
    const fork = new CatalogBuilder(this.styles);
    fork.tools = yield* this.tools.fork();
    fork.prompts = yield* this.prompts.fork();
    for (const server of this.serversWith(listings)) yield* fork.putNames(server);
    return { tools: fork.tools.table, prompts: fork.prompts.table };
  }

  /** The directory of resources with `listings` in place of the servers' own. Runs as a job for resources. */
  *resourcesWith(listings: Listings): Steps<ResourceDirectory> {
    const fork = new CatalogBuilder(this.styles);
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

  /** Tables without a change are the same objects as in the previous catalog. */
  build(): Catalog {
    const { directory } = this.resources;
    const servers = [...this.servers.values()]
      .map((server) => this.withBuiltResources(server))
      .toSorted((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
    const isKnown = (id: string): boolean => this.servers.has(id);
    return new Catalog(servers, this.tools.table, this.prompts.table, directory.only(isKnown));
  }

  /** The servers of `listings` that are in the catalog, with these listings in place of their own. */
  private *serversWith(listings: Listings): Iterable<ListedServer> {
    for (const [id, listing] of listings) {
      const server = this.servers.get(id);
      if (server) yield { ...server, listing };
    }
  }

  /** The server with the resources of the directory. The listing has newer ones until the job for resources has ended. */
  private withBuiltResources(server: ListedServer): ListedServer {
    const { resources, templates } = this.resources.directory.offerOf(server.id) ?? EMPTY_LISTING;
    const { listing } = server;
    return listing.resources === resources && listing.templates === templates
      ? server
      : { ...server, listing: { ...listing, resources, templates } };
  }
}

const enabledTools = ({ listing: { tools }, disabledTools }: ListedServer): readonly Definition[] =>
  disabledTools.size === 0 ? tools : tools.filter(({ name }) => !disabledTools.has(name));
