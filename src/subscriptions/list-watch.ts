import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Catalog, CatalogChange } from '../core/catalog.js';
import { ResourceList } from '../core/resource-list.js';
import type { ResourcePattern } from '../core/resource-pattern.js';
import { Registry } from '../registry/registry.service.js';
import { Subscribers } from './subscribers.js';
import { Upstreams } from './upstreams.js';

/** Follows what is subscribed to through the lists: what vanishes is reported, what comes back is watched again. */
@Injectable()
export class ListWatch implements OnModuleInit {
  private readonly lists = new Map<string, ResourceList>();

  constructor(
    private readonly registry: Registry,
    private readonly subscribers: Subscribers,
    private readonly upstreams: Upstreams,
  ) {}

  onModuleInit(): void {
    this.registry.onChange((change, catalog) => this.follow(change, catalog));
  }

  private follow({ resources }: CatalogChange, { servers }: Catalog): void {
    for (const id of resources) {
      const now = servers.find((server) => server.id === id)?.listing.resources;
      // A server that is gone for the moment has lost none of its resources.
      if (!now) continue;
      const before = this.lists.get(id);
      this.lists.set(id, now);
      if (before && before !== now) this.compare(id, before, now);
    }
  }

  private compare(server: string, before: ResourceList, now: ResourceList): void {
    for (const { uri, pattern } of this.subscribers.table.targetsOf(server)) {
      const gone = pattern ? matching(before, pattern) : [uri].filter((own) => before.find(own));
      for (const own of gone) if (!now.find(own)) this.upstreams.vanished({ server, uri: own });
      const there = pattern ? matching(now, pattern) : [uri].filter((own) => now.find(own));
      for (const own of there) if (!before.find(own)) this.upstreams.appeared({ server, uri: own });
    }
  }
}

function* matching(list: ResourceList, pattern: ResourcePattern): Iterable<string> {
  for (const { uri } of list.startingWith(pattern.prefix)) if (pattern.matches(uri)) yield uri;
}
