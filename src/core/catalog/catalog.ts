import { META_TOOL_SERVER, NameTable, type Definition, type NamedOffer } from '../naming/name-table.js';
import type { NamingStyle } from '../naming/naming.js';
import { ResourceDirectory } from '../resources/resource-directory.js';
import { ResourceList } from '../resources/resource-list.js';
import type { ResourceOffer } from '../resources/resource-offer.js';
import type { ResourceTemplate } from '../resources/resource-template.js';
import type { ResourceStyle } from '../resources/resource-uri.js';
import type { Yield, SlicedJob } from '../../lib/slices/slices.js';

/** What one server offered at its last sync. */
export interface Listing {
  readonly tools: readonly Definition[];
  readonly prompts: readonly Definition[];
  readonly resources: ResourceList;
  readonly templates: readonly ResourceTemplate[];
  /** What the server tells models about itself. */
  readonly instructions?: string | undefined;
}

export const EMPTY_LISTING: Listing = {
  tools: [],
  prompts: [],
  resources: ResourceList.EMPTY,
  templates: [],
};

/** A server as the catalog sees it: its listing and the decisions that bear on it. */
export interface ListedServer {
  readonly id: string;
  /** Its place among the servers, by the order of the configuration. */
  readonly rank: number;
  readonly listing: Listing;
  readonly style: NamingStyle;
  readonly disabledTools: ReadonlySet<string>;
}

/** How the house lists what its servers offer. */
export interface NamingStyles {
  readonly separator: string;
  readonly resources: ResourceStyle;
  /** Tools of the gateway itself. */
  readonly tools: readonly Definition[];
}

/** Kinds of lists that can change, as the notifications name them. Templates change with the resources. */
export type ListKind = 'tools' | 'prompts' | 'resources';
export const LIST_KINDS: readonly ListKind[] = ['tools', 'prompts', 'resources'];

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
    readonly resources: ResourceDirectory,
  ) {}

  static readonly EMPTY = new Catalog([], NameTable.EMPTY, NameTable.EMPTY, ResourceDirectory.EMPTY);

  /** What of `next` may take long, to be done ahead of it; undefined when nothing does. */
  static prepare(
    servers: readonly ListedServer[],
    style: ResourceStyle,
    yieldIfDue: Yield,
  ): SlicedJob | undefined {
    return ResourceDirectory.prepare(resourcesOf(servers), style, yieldIfDue);
  }

  /** The next catalog; what did not change since this one is taken over, not built again. */
  next(servers: readonly ListedServer[], house: NamingStyles): Catalog {
    const ofTheHouse: NamedOffer = { server: META_TOOL_SERVER, style: 'never', definitions: house.tools };
    const tools = servers.map((server): NamedOffer => ({
      server: server.id,
      style: server.style,
      definitions: enabledTools(server),
    }));
    const prompts = servers.map(({ id, style, listing }): NamedOffer => {
      return { server: id, style, definitions: listing.prompts };
    });
    return new Catalog(
      servers,
      NameTable.build([ofTheHouse, ...tools], house.separator, this.tools),
      NameTable.build(prompts, house.separator, this.prompts),
      ResourceDirectory.build(resourcesOf(servers), house.resources, this.resources),
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

/** Unfiltered lists keep their identity, by which an unchanged table is known. */
const enabledTools = ({ listing: { tools }, disabledTools }: ListedServer): readonly Definition[] =>
  disabledTools.size === 0 ? tools : tools.filter(({ name }) => !disabledTools.has(name));

const resourcesOf = (servers: readonly ListedServer[]): ResourceOffer[] =>
  servers.map(({ id, listing: { resources, templates } }) => ({ server: id, resources, templates }));
