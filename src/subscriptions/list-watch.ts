import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Catalog, type CatalogChange } from '../core/catalog.js';
import { ResourceList } from '../core/resource-list.js';
import { Registry } from '../registry/registry.service.js';
import { matchesIn } from './pattern-matches.js';
import { Subscribers } from './subscribers.js';
import { Upstreams } from './upstreams.js';

/** Follows what is subscribed to through the lists: what vanishes is reported, what comes back is watched again. */
@Injectable()
export class ListWatch implements OnModuleInit {
  private last = Catalog.EMPTY;
  /** What servers listed before they were replaced, as long as something is wanted of them. */
  private readonly parted = new Map<string, ResourceList>();

  constructor(
    private readonly registry: Registry,
    private readonly subscribers: Subscribers,
    private readonly upstreams: Upstreams,
  ) {}

  onModuleInit(): void {
    this.registry.onChange((change, catalog) => this.follow(change, catalog));
  }

  private follow({ resources }: CatalogChange, catalog: Catalog): void {
    const previous = this.last;
    this.last = catalog;
    for (const id of resources) {
      const before = this.parted.get(id) ?? listOf(previous, id) ?? ResourceList.EMPTY;
      const now = listOf(catalog, id);
      if (now && !this.isYetToCome(id, now)) {
        this.parted.delete(id);
        this.compare(id, before, now, [previous, catalog]);
      } else if (this.subscribers.table.countOfServer(id) > 0) this.parted.set(id, before);
      else this.parted.delete(id);
    }
  }

  /** A server that is being replaced has lost none of its resources; its first lists come one after the other. */
  private isYetToCome(server: string, list: ResourceList): boolean {
    return list === ResourceList.EMPTY && this.parted.has(server);
  }

  private compare(
    server: string,
    before: ResourceList,
    now: ResourceList,
    [previous, catalog]: readonly [Catalog, Catalog],
  ): void {
    if (before === now) return;
    // One that several targets want is one all the same.
    const gone = new Set<string>();
    const come = new Set<string>();
    const sort = (uri: string): void => {
      const [was, is] = [before.find(uri) !== undefined, now.find(uri) !== undefined];
      if (was !== is) (is ? come : gone).add(uri);
    };
    for (const { uri, pattern } of this.subscribers.table.targetsOf(server)) {
      const uris = pattern ? [...matchesIn(before, pattern), ...matchesIn(now, pattern)] : [uri];
      uris.forEach(sort);
    }
    const nameOf = (uri: string, { resources }: Catalog): string => resources.publicUri({ server, uri });
    // By the names that they had in the lists.
    for (const uri of gone) this.upstreams.vanished({ server, uri }, nameOf(uri, previous));
    for (const uri of come)
      this.upstreams.appeared({ server, uri }, nameOf(uri, previous) !== nameOf(uri, catalog));
    for (const { pattern } of this.subscribers.table.targetsOf(server))
      if (pattern) this.upstreams.refit(server, pattern);
  }
}

const listOf = ({ servers }: Catalog, server: string): ResourceList | undefined =>
  servers.find(({ id }) => id === server)?.listing.resources;
