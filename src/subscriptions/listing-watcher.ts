import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import { Catalog, type CatalogChange } from '../core/catalog/catalog.js';
import { ResourceList } from '../core/resources/resource-list.js';
import type { ResourcePattern } from '../core/resources/resource-pattern.js';
import { Registry } from '../registry/registry.service.js';
import { SerialQueue } from '../lib/queues/serial-queue.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { findMatches } from './pattern-matches.js';
import { Subscribers } from './subscribers.js';
import { UpstreamSubscriptions } from './upstream-subscriptions.js';

/** What a server listed, and the catalog in which its resources had their names. */
interface Listed {
  readonly list: ResourceList;
  readonly catalog: Catalog;
}

interface Difference {
  readonly gone: ReadonlySet<string>;
  readonly come: ReadonlySet<string>;
  readonly patterns: readonly ResourcePattern[];
}

/** Follows what is subscribed to through the lists: what vanishes is reported, what comes back is watched again. */
@Injectable()
export class ListingWatcher implements OnModuleInit {
  private readonly logger = new Logger('Subscriptions');
  private last = Catalog.EMPTY;
  /** What servers listed before they were replaced, as long as something is wanted of them. */
  private readonly parted = new Map<string, Listed>();
  /** Lists are compared one at a time, in the order in which they came. */
  private readonly comparisons = new SerialQueue();

  constructor(
    private readonly registry: Registry,
    private readonly backends: Backends,
    private readonly subscribers: Subscribers,
    private readonly upstreams: UpstreamSubscriptions,
  ) {}

  onModuleInit(): void {
    this.registry.onChange((change, catalog) => this.follow(change, catalog));
    // A server that has nothing changes nothing in the lists.
    this.backends.onSynced(({ id, listing }) => {
      if (listing?.resources === ResourceList.NONE) this.settle(id, listing.resources);
    });
    // A server that goes before it has listed anything changes nothing in them either.
    this.subscribers.onChange(({ server }) => {
      if (this.subscribers.table.countOfServer(server) === 0) this.parted.delete(server);
    });
  }

  private follow({ resources }: CatalogChange, catalog: Catalog): void {
    const previous = this.last;
    this.last = catalog;
    for (const id of resources) {
      const before = this.parted.get(id) ?? { list: listOf(previous, id), catalog: previous };
      const now = listOf(catalog, id);
      this.parted.set(id, before);
      // A server that is being replaced has lost none of its resources; its first lists come one after the other.
      if (now !== ResourceList.EMPTY) this.settle(id, now);
      else if (this.subscribers.table.countOfServer(id) === 0) this.parted.delete(id);
    }
  }

  /** It is known what the server has now. */
  private settle(server: string, now: ResourceList): void {
    const before = this.parted.get(server);
    this.parted.delete(server);
    if (!before || before.list === now) return;
    const after = { list: now, catalog: this.last };
    this.comparisons
      .run(() => this.compare(server, before, after))
      .catch((error: unknown) =>
        this.logger.error({ message: 'lists were not compared', server, cause: String(error) }),
      );
  }

  private async compare(server: string, before: Listed, after: Listed): Promise<void> {
    const { gone, come, patterns } = await this.differences(server, before.list, after.list);
    const nameIn = ({ catalog }: Listed, uri: string): string => catalog.resources.publicUri({ server, uri });
    // By the names that they had in the lists.
    for (const uri of gone) this.upstreams.resourceGone({ server, uri }, nameIn(before, uri));
    const isFirst = before.list === ResourceList.EMPTY;
    for (const uri of come)
      this.upstreams.resourceListed(
        { server, uri },
        { isFirst, isRenamed: nameIn(before, uri) !== nameIn(after, uri) },
      );
    for (const pattern of patterns) await this.upstreams.patternListed(server, pattern);
  }

  private async differences(server: string, before: ResourceList, now: ResourceList): Promise<Difference> {
    const yieldIfDue = sliceScheduler.start();
    // One that several targets want is one all the same.
    const gone = new Set<string>();
    const come = new Set<string>();
    const patterns: ResourcePattern[] = [];
    const sort = (uri: string): void => {
      const [was, is] = [before.find(uri) !== undefined, now.find(uri) !== undefined];
      if (was !== is) (is ? come : gone).add(uri);
    };
    let looks = 0;
    for (const { uri, pattern } of Array.from(this.subscribers.table.targetsOf(server))) {
      if ((++looks & 255) === 0) await yieldIfDue();
      if (!pattern) {
        sort(uri);
        continue;
      }
      patterns.push(pattern);
      for (const list of [before, now]) (await findMatches(list, pattern, yieldIfDue)).uris.forEach(sort);
    }
    // A pattern keeps what it had when others come before it in the list, beyond what is looked at there.
    if (patterns.length > 0)
      for (const uri of this.upstreams.trackedUris(server)) {
        if ((++looks & 255) === 0) await yieldIfDue();
        sort(uri);
      }
    return { gone, come, patterns };
  }
}

const listOf = ({ servers }: Catalog, server: string): ResourceList =>
  servers.find(({ id }) => id === server)?.listing.resources ?? ResourceList.EMPTY;
