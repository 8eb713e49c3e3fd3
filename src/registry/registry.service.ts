import { Injectable, Logger } from '@nestjs/common';
import {
  Catalog,
  EMPTY_LISTING,
  LIST_KINDS,
  type CatalogChange,
  type ListedServer,
} from '../core/catalog/catalog.js';
import type { Definition } from '../core/naming/name-table.js';
import { isSameSet } from '../core/resources/same-set.js';
import type { SlicedJob } from '../lib/slices/slices.js';
import { Naming } from '../config/naming.js';
import { ResourceLinks } from './resource-links.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

type ChangeListener = (change: CatalogChange, catalog: Catalog) => void;

/** The one provider every room shares: what is offered right now, and word of every change. */
@Injectable()
export class Registry {
  private readonly logger = new Logger(Registry.name);
  private readonly listeners = new ListenerSet<Parameters<ChangeListener>>();
  private readonly listed = new Map<string, ListedServer>();
  /** Whose resources are offered as soon as it is known which of them others have, too. */
  private readonly coming = new Map<string, ListedServer>();
  private isPreparing = false;
  private ownTools: readonly Definition[] = [];
  private current = Catalog.EMPTY;
  /** Resources as clients come across them. */
  readonly links = new ResourceLinks(() => this.current);

  constructor(private readonly naming: Naming) {}

  get catalog(): Catalog {
    return this.current;
  }

  /**
   * Puts a server's listing in the place its rank gives it, or replaces the one it had. At once, but for resources
   * that have to be compared with many of others: those it had stay until that is done.
   */
  put(server: ListedServer): void {
    if (!this.workBefore(server)) return this.offer(server);
    const { resources, templates } = this.listed.get(server.id)?.listing ?? EMPTY_LISTING;
    this.offer({ ...server, listing: { ...server.listing, resources, templates } });
    this.coming.set(server.id, server);
    if (!this.isPreparing) void this.offerComing();
  }

  remove(server: string): void {
    this.coming.delete(server);
    if (this.listed.delete(server)) this.rebuild();
  }

  /** Offers tools of the gateway itself, to everybody. */
  putMetaTools(tools: readonly Definition[]): void {
    this.ownTools = tools;
    this.rebuild();
  }

  onChange(listener: ChangeListener): () => void {
    return this.listeners.add(listener);
  }

  /** One after the other: two at once would each undo what the other found out. */
  private async offerComing(): Promise<void> {
    this.isPreparing = true;
    try {
      for (;;) {
        const [server] = this.coming.values();
        if (!server) return;
        // Others may have come meanwhile, which it has to be compared with, too.
        const work = this.workBefore(server);
        if (work) await work();
        else this.offer(server);
      }
    } finally {
      this.isPreparing = false;
    }
  }

  private workBefore(server: ListedServer): SlicedJob | undefined {
    const others = [...this.listed.values()].filter(({ id }) => id !== server.id);
    return Catalog.prepare([...others, server], this.naming.resources, sliceScheduler.start());
  }

  private offer(server: ListedServer): void {
    const old = this.listed.get(server.id);
    this.coming.delete(server.id);
    this.listed.set(server.id, server);
    if (!old || !sameOffer(old, server)) this.rebuild();
  }

  private rebuild(): void {
    const previous = this.current;
    const servers = [...this.listed.values()].toSorted((a, b) => a.rank - b.rank);
    const { separator, resources } = this.naming;
    this.current = previous.next(servers, { separator, resources, tools: this.ownTools });
    this.warnOfUnlisted(previous);
    const change = this.current.changesSince(previous);
    if (LIST_KINDS.every((kind) => change[kind].size === 0)) return;
    this.listeners.emit(change, this.current);
  }

  private warnOfUnlisted(previous: Catalog): void {
    const known = new Set([...previous.tools.unlisted, ...previous.prompts.unlisted]);
    for (const entry of [...this.current.tools.unlisted, ...this.current.prompts.unlisted]) {
      if (known.has(entry)) continue;
      const { server, ownName } = entry;
      this.logger.warn({ message: 'name belongs to another server; not listed', server, name: ownName });
    }
  }
}

const sameOffer = (a: ListedServer, b: ListedServer): boolean =>
  a.listing === b.listing &&
  a.rank === b.rank &&
  a.style === b.style &&
  isSameSet(a.disabledTools, b.disabledTools);
