import { Injectable, Logger } from '@nestjs/common';
import { Naming } from '../config/naming.js';
import { CatalogBuilder } from '../core/catalog/catalog-builder.js';
import { Catalog, LIST_KINDS, type CatalogChange, type ListedServer } from '../core/catalog/catalog.js';
import { META_TOOL_SERVER, type Definition } from '../core/naming/catalog-entry.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';
import type { Steps } from '../lib/slices/run-sliced.js';
import { BuildQueue } from './build-queue.js';
import { ResourceLinks } from './resource-links.js';

/**
 * Holds the current catalog and announces its changes. Changes are built in slices, one server after the other in the
 * order in which they came, and each swaps the catalog when it is complete. Resources, of which there can be many, do not
 * hold up tools and prompts. A server that is removed is gone at once.
 */
@Injectable()
export class Registry {
  private readonly logger = new Logger(Registry.name);
  private readonly listeners = new ListenerSet<[change: CatalogChange, catalog: Catalog]>((error) =>
    this.logger.error({ message: 'a listener to catalog changes failed', cause: String(error) }),
  );
  /** What each server offered last. */
  private readonly latest = new Map<string, ListedServer>();
  private metaTools: readonly Definition[] = [];
  private readonly builder: CatalogBuilder;
  private readonly names: BuildQueue;
  private readonly resources: BuildQueue;
  private isUpdating = false;
  private current = Catalog.EMPTY;
  /** Resources as results and tools mention them. */
  readonly links = new ResourceLinks(() => this.current);

  constructor(naming: Naming) {
    this.builder = new CatalogBuilder(naming);
    const onBuilt = (): void => this.swap();
    const onError = (server: string, error: unknown): void =>
      this.logger.error({ message: 'catalog was not built', server, cause: String(error) });
    this.names = new BuildQueue((id) => this.buildNames(id), onBuilt, onError);
    this.resources = new BuildQueue((id) => this.buildResources(id), onBuilt, onError);
  }

  get catalog(): Catalog {
    return this.current;
  }

  /**
   * Adds a server, or replaces what it offered. Resolves when the catalog has it, or has what was put later, or when it
   * was removed meanwhile.
   */
  put(server: ListedServer): Promise<void> {
    this.latest.set(server.id, server);
    return this.update(server.id);
  }

  /** The catalog has nothing of the server when this returns. Names that other servers get back by it may follow. */
  remove(id: string): void {
    if (!this.latest.delete(id)) return;
    for (const queue of [this.names, this.resources]) queue.markRemoved(id);
    void this.update(id);
  }

  /** Offers tools of the gateway itself, in every scope. */
  putMetaTools(tools: readonly Definition[]): Promise<void> {
    this.metaTools = tools;
    return this.names.add(META_TOOL_SERVER);
  }

  /** Resolves when the catalog has everything that was put so far. */
  async whenBuilt(): Promise<void> {
    await Promise.all([this.names.whenIdle(), this.resources.whenIdle()]);
  }

  /** Listeners are called in the order in which they were added. */
  onChange(listener: (change: CatalogChange, catalog: Catalog) => void): () => void {
    return this.listeners.add(listener);
  }

  /** Builds that take one slice are announced as one change. */
  private async update(id: string): Promise<void> {
    this.isUpdating = true;
    const builds = [this.names.add(id), this.resources.add(id)];
    this.isUpdating = false;
    this.swap();
    await Promise.all(builds);
  }

  private *buildNames(id: string): Steps {
    const server = this.latest.get(id);
    if (server) yield* this.builder.putNames(server);
    else if (id === META_TOOL_SERVER) yield* this.builder.putMetaTools(this.metaTools);
    else yield* this.builder.removeNames(id);
  }

  private *buildResources(id: string): Steps {
    const server = this.latest.get(id);
    if (server) yield* this.builder.putResources(server);
    else yield* this.builder.removeResources(id);
  }

  private swap(): void {
    if (this.isUpdating) return;
    const previous = this.current;
    let catalog = this.builder.build();
    for (const id of [...this.names.removed, ...this.resources.removed]) catalog = catalog.without(id);
    this.current = catalog;
    this.warnOfUnlisted(previous);
    const change = catalog.changesSince(previous);
    if (LIST_KINDS.some((kind) => change[kind].size > 0)) this.listeners.emit(change, catalog);
  }

  private warnOfUnlisted(previous: Catalog): void {
    const { tools, prompts } = this.current;
    for (const { server, ownName } of [
      ...tools.newlyUnlisted(previous.tools),
      ...prompts.newlyUnlisted(previous.prompts),
    ])
      this.logger.warn({ message: 'name belongs to another server; not listed', server, name: ownName });
  }
}
