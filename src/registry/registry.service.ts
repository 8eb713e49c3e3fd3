import { Injectable, Logger } from '@nestjs/common';
import { Naming } from '../config/naming.js';
import { CatalogBuilder } from '../core/catalog/catalog-builder.js';
import {
  Catalog,
  UNFETCHED_LISTING,
  LIST_KINDS,
  type CatalogChange,
  type ListedServer,
} from '../core/catalog/catalog.js';
import { OwnerScope } from '../core/catalog/owner-scope.js';
import type { Scope } from '../core/scope.js';
import { META_TOOL_SERVER, type Definition } from '../core/naming/catalog-entry.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';
import type { Steps } from '../lib/slices/run-sliced.js';
import { BuildQueue } from './build-queue.js';
import { CatalogVariants } from './catalog-variants.js';
import { ConflictLog } from './conflict-log.js';
import { Metrics } from '../metrics/metrics.js';
import { ResourceUris } from './resource-uris.js';

/**
 * Holds the current catalog and announces its changes. When the listing of a server changes, the server's part of the
 * catalog is built in slices, and then the catalog is swapped. Names (tools and prompts) and resources are built in separate
 * queues, so that a long list of resources does not delay tools. A removed server disappears at once.
 */
@Injectable()
export class Registry {
  private readonly logger = new Logger(Registry.name);
  private readonly conflictLog = new ConflictLog(this.logger);
  private readonly listeners = new ListenerSet<[change: CatalogChange, catalog: Catalog, previous: Catalog]>(
    (error) => this.logger.error({ message: 'a listener to catalog changes failed', cause: String(error) }),
  );
  /** By server id: the server with its latest listing. */
  private readonly listedServers = new Map<string, ListedServer>();
  /** The ids of all configured servers, listed or not. */
  private serverIds: ReadonlySet<string> = new Set();
  private metaTools: readonly Definition[] = [];
  private readonly builder: CatalogBuilder;
  /** The keys of both queues are server ids and keys of variants. A further key of `nameBuilds` is `META_TOOL_SERVER`. */
  private readonly nameBuilds: BuildQueue;
  private readonly resourceBuilds: BuildQueue;
  /** While true, a finished build does not swap the catalog. */
  private isSwapDeferred = false;
  private current = Catalog.EMPTY;
  /** Resolves the URIs in requests, and translates the URIs in results. */
  readonly resourceUris: ResourceUris;
  /** Catalogs for link owners (`LinkOwner`). A server may send other listings over an owner's link than over a shared link. */
  readonly variants: CatalogVariants;
  /** Resolves when all builds of variants that changes of the shared catalog have queued have ended. */
  private variantBuilds: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly naming: Naming,
    metrics: Metrics = new Metrics(),
  ) {
    this.resourceUris = new ResourceUris(
      (scope) => this.catalogOf(scope),
      () => metrics.countMemoryLimit('resource-links'),
    );
    this.builder = new CatalogBuilder(naming, (server) => metrics.countUnfinishedMatch(server));
    this.variants = new CatalogVariants(
      () => this.current,
      (key) => Promise.all([this.nameBuilds.add(key), this.resourceBuilds.add(key)]),
    );
    const onBuilt = (key: string): void => {
      if (!this.variants.find(key)) this.swap();
    };
    const onError = (key: string, error: unknown): void =>
      this.logger.error({ message: 'catalog was not built', server: key, cause: String(error) });
    this.nameBuilds = new BuildQueue((key) => this.buildNames(key), onBuilt, onError);
    this.resourceBuilds = new BuildQueue((key) => this.buildResources(key), onBuilt, onError);
  }

  /** The shared catalog: it contains the listings that servers sent over shared links. */
  get catalog(): Catalog {
    return this.current;
  }

  /** The variant of the link owner, or the shared catalog if it has none. */
  catalogOfOwner(owner: string): Catalog {
    return this.variants.of(owner)?.catalog ?? this.current;
  }

  /** The scope of a request of this link owner. If the owner has a variant, the scope carries that catalog. */
  scopeOf(scope: Scope, owner: string | undefined): Scope {
    if (this.variants.size === 0 || owner === undefined) return scope;
    const variant = this.variants.of(owner);
    return variant ? new OwnerScope(scope, variant) : scope;
  }

  /** The catalog that applies to a request with this scope. */
  catalogOf(scope: Scope): Catalog {
    return scope instanceof OwnerScope ? scope.catalog : this.current;
  }

  /** Sets the ids of all configured servers. A name or URI with one of these ids leads only to that server. */
  setServers(ids: Iterable<string>): void {
    const newIds = new Set(ids);
    const isSame = newIds.size === this.serverIds.size && [...newIds].every((id) => this.serverIds.has(id));
    if (isSame) return;
    this.serverIds = newIds;
    this.builder.setServers(newIds);
    this.swap();
  }

  /**
   * Adds a server or replaces its listing. Resolves when the catalog has this listing or a later one of the server, or when
   * the server was removed.
   */
  put(server: ListedServer): Promise<void> {
    this.listedServers.set(server.id, server);
    return this.update(server.id);
  }

  /**
   * Removes a server. The catalog no longer contains it when this method returns. A name that another server also claims goes
   * to that server after the next build.
   */
  remove(id: string): void {
    if (!this.listedServers.delete(id)) return;
    for (const queue of [this.nameBuilds, this.resourceBuilds]) queue.markRemoved(id);
    void this.update(id);
  }

  /** Replaces the meta tools, which are listed in every scope. */
  putMetaTools(tools: readonly Definition[]): Promise<void> {
    this.metaTools = tools;
    return this.nameBuilds.add(META_TOOL_SERVER);
  }

  /** Whether the public URI of a resource can differ between scopes. In the style `resource`, it cannot. */
  get hasScopedUris(): boolean {
    return this.naming.resources !== 'resource';
  }

  /**
   * Whether the public URIs of the server's resources, and of instances of its templates, are final. Until the server
   * has listed both, they may change.
   */
  hasFinalUris(server: string): boolean {
    if (!this.hasScopedUris) return true;
    const { resources, templates } = this.current.server(server)?.listing ?? UNFETCHED_LISTING;
    // Compares object identities: a fetched list is never the same object as the list in UNFETCHED_LISTING, even if both are
    // empty.
    return resources !== UNFETCHED_LISTING.resources && templates !== UNFETCHED_LISTING.templates;
  }

  /** Resolves when the catalog has everything that was put so far. */
  async whenBuilt(): Promise<void> {
    await Promise.all([this.nameBuilds.whenIdle(), this.resourceBuilds.whenIdle()]);
  }

  /** Listeners are called in the order in which they were added. */
  onChange(listener: (change: CatalogChange, catalog: Catalog, previous: Catalog) => void): () => void {
    return this.listeners.add(listener);
  }

  /** Builds the names and resources of a server. If both builds fit into one slice, they are announced as one change. */
  private async update(id: string): Promise<void> {
    this.isSwapDeferred = true;
    const builds = [this.nameBuilds.add(id), this.resourceBuilds.add(id)];
    this.isSwapDeferred = false;
    this.swap();
    await Promise.all(builds);
    await this.variantBuilds;
  }

  private *buildNames(key: string): Steps {
    const server = this.listedServers.get(key);
    const variant = this.variants.find(key);
    if (variant) yield* variant.buildNames(this.builder);
    else if (server) yield* this.builder.putNames(server);
    else if (key === META_TOOL_SERVER) yield* this.builder.putMetaTools(this.metaTools);
    else yield* this.builder.removeNames(key);
  }

  private *buildResources(key: string): Steps {
    const server = this.listedServers.get(key);
    const variant = this.variants.find(key);
    if (variant) yield* variant.buildResources(this.builder);
    else if (server) yield* this.builder.putResources(server);
    else yield* this.builder.removeResources(key);
  }

  private swap(): void {
    if (this.isSwapDeferred) return;
    const previous = this.current;
    let catalog = this.builder.build();
    // The builder contains a removed server until the queued builds of its key have ended.
    for (const id of [...this.nameBuilds.removed, ...this.resourceBuilds.removed])
      catalog = catalog.without(id);
    this.current = catalog;
    if (this.variants.size > 0) this.rebuildVariants(previous);
    void this.conflictLog.update(catalog);
    const change = catalog.changesSince(previous);
    if (LIST_KINDS.some((kind) => change[kind].size > 0)) this.listeners.emit(change, catalog, previous);
  }

  /** Queues builds of all variants for the parts of the shared catalog that differ from the previous one. */
  private rebuildVariants(previous: Catalog): void {
    const { tools, prompts, resources } = this.current;
    const queues = [
      ...(tools === previous.tools && prompts === previous.prompts ? [] : [this.nameBuilds]),
      ...(resources === previous.resources ? [] : [this.resourceBuilds]),
    ];
    const builds = queues.flatMap((queue) => [...this.variants.keys()].map((key) => queue.add(key)));
    this.variantBuilds = Promise.all([this.variantBuilds, ...builds]);
  }
}
