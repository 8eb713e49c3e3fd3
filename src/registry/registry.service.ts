import { Injectable, Logger } from '@nestjs/common';
import { Naming } from '../config/naming.js';
import { CatalogBuilder } from '../core/catalog/catalog-builder.js';
import {
  Catalog,
  EMPTY_LISTING,
  LIST_KINDS,
  type CatalogChange,
  type ListedServer,
} from '../core/catalog/catalog.js';
import { SessionScope } from '../core/catalog/session-scope.js';
import type { Scope } from '../core/scope.js';
import { META_TOOL_SERVER, type Definition } from '../core/naming/catalog-entry.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';
import type { Steps } from '../lib/slices/run-sliced.js';
import { BuildQueue } from './build-queue.js';
import { CatalogVariants } from './catalog-variants.js';
import { ConflictLog } from './conflict-log.js';
import { Metrics } from '../metrics/metrics.js';
import { ResourceLinks } from './resource-links.js';

/**
 * Holds the current catalog and announces its changes. Servers are built in slices, one after the other, and the catalog
 * is swapped after each of them. Names (tools and prompts) and resources have separate queues, so that a long list of
 * resources does not delay tools. A removed server disappears at once.
 */
@Injectable()
export class Registry {
  private readonly logger = new Logger(Registry.name);
  private readonly conflictLog = new ConflictLog(this.logger);
  private readonly listeners = new ListenerSet<[change: CatalogChange, catalog: Catalog, previous: Catalog]>(
    (error) => this.logger.error({ message: 'a listener to catalog changes failed', cause: String(error) }),
  );
  /** By server id: its latest listing. */
  private readonly latest = new Map<string, ListedServer>();
  private servers: ReadonlySet<string> = new Set();
  private metaTools: readonly Definition[] = [];
  private readonly builder: CatalogBuilder;
  /** The keys of both queues are server ids and the keys of variants; `nameBuilds` has `META_TOOL_SERVER` too. */
  private readonly nameBuilds: BuildQueue;
  private readonly resourceBuilds: BuildQueue;
  private isSwapDeferred = false;
  private current = Catalog.EMPTY;
  /** Finds and translates the resources that results and tools link to. */
  readonly links: ResourceLinks;
  /** Catalogs of sessions that have listings of their own in place of those of the shared links. */
  readonly variants: CatalogVariants;
  private variantBuilds: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly naming: Naming,
    metrics: Metrics = new Metrics(),
  ) {
    this.links = new ResourceLinks(
      (scope) => this.catalogOf(scope),
      () => metrics.countMemoryLimit('resource-links'),
    );
    this.builder = new CatalogBuilder(naming);
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

  /** The shared catalog: what the shared links have listed. */
  get catalog(): Catalog {
    return this.current;
  }

  /** The shared catalog, or the variant of the session. */
  catalogOfSession(session: string): Catalog {
    return this.variants.of(session)?.catalog ?? this.current;
  }

  /** The scope of a request of this session: with the catalog of the session, if it has a variant. */
  scopeOf(scope: Scope, session: string | undefined): Scope {
    if (this.variants.size === 0 || session === undefined) return scope;
    const variant = this.variants.of(session);
    return variant ? new SessionScope(scope, variant) : scope;
  }

  /** The catalog that applies to a request with this scope. */
  catalogOf(scope: Scope): Catalog {
    return scope instanceof SessionScope ? scope.catalog : this.current;
  }

  /** Sets the ids of all configured servers. A name or URI with one of these ids leads only to that server. */
  setServers(ids: Iterable<string>): void {
    const now = new Set(ids);
    if (now.size === this.servers.size && [...now].every((id) => this.servers.has(id))) return;
    this.servers = now;
    this.builder.setServers(now);
    this.swap();
  }

  /**
   * Adds a server or replaces its listing. Resolves when the catalog has this listing or a later one, or when the server
   * was removed meanwhile.
   */
  put(server: ListedServer): Promise<void> {
    this.latest.set(server.id, server);
    return this.update(server.id);
  }

  /** Takes effect before it returns. Names that become free go to other servers with the next build. */
  remove(id: string): void {
    if (!this.latest.delete(id)) return;
    for (const queue of [this.nameBuilds, this.resourceBuilds]) queue.markRemoved(id);
    void this.update(id);
  }

  /** Replaces the meta tools, which are listed in every scope. */
  putMetaTools(tools: readonly Definition[]): Promise<void> {
    this.metaTools = tools;
    return this.nameBuilds.add(META_TOOL_SERVER);
  }

  /** Whether the public URI of a resource can differ between scopes. */
  get hasScopedUris(): boolean {
    return this.naming.resources !== 'resource';
  }

  /**
   * Whether the public URIs of the server's resources, and of instances of its templates, are final. Until the server
   * has listed both, they may change.
   */
  hasFinalUris(server: string): boolean {
    if (!this.hasScopedUris) return true;
    const { resources, templates } = this.current.server(server)?.listing ?? EMPTY_LISTING;
    return resources !== EMPTY_LISTING.resources && templates !== EMPTY_LISTING.templates;
  }

  /** Resolves when the catalog has everything that was put so far. */
  async whenBuilt(): Promise<void> {
    await Promise.all([this.nameBuilds.whenIdle(), this.resourceBuilds.whenIdle()]);
  }

  /** Listeners are called in the order in which they were added. */
  onChange(listener: (change: CatalogChange, catalog: Catalog, previous: Catalog) => void): () => void {
    return this.listeners.add(listener);
  }

  /** If both builds fit into one slice, they are announced as one change. */
  private async update(id: string): Promise<void> {
    this.isSwapDeferred = true;
    const builds = [this.nameBuilds.add(id), this.resourceBuilds.add(id)];
    this.isSwapDeferred = false;
    this.swap();
    await Promise.all(builds);
    await this.variantBuilds;
  }

  private *buildNames(key: string): Steps {
    const server = this.latest.get(key);
    const variant = this.variants.find(key);
    if (variant) yield* variant.buildNames(this.builder);
    else if (server) yield* this.builder.putNames(server);
    else if (key === META_TOOL_SERVER) yield* this.builder.putMetaTools(this.metaTools);
    else yield* this.builder.removeNames(key);
  }

  private *buildResources(key: string): Steps {
    const server = this.latest.get(key);
    const variant = this.variants.find(key);
    if (variant) yield* variant.buildResources(this.builder);
    else if (server) yield* this.builder.putResources(server);
    else yield* this.builder.removeResources(key);
  }

  private swap(): void {
    if (this.isSwapDeferred) return;
    const previous = this.current;
    let catalog = this.builder.build();
    for (const id of [...this.nameBuilds.removed, ...this.resourceBuilds.removed])
      catalog = catalog.without(id);
    this.current = catalog;
    if (this.variants.size > 0) this.rebuildVariants(previous);
    void this.conflictLog.update(catalog);
    const change = catalog.changesSince(previous);
    if (LIST_KINDS.some((kind) => change[kind].size > 0)) this.listeners.emit(change, catalog, previous);
  }

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
