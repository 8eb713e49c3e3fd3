import type { Steps } from '../../lib/slices/run-sliced.js';
import { ResourceConflicts, type ResourceOffer } from './conflicts/resource-conflicts.js';
import { ResourceDirectory } from './resource-directory.js';
import type { ResourceStyle } from './resource-uri.js';
import { ServerResources } from './server-resources.js';

/** Builds the directory of all resources and templates, one changed server at a time. */
export class ResourceDirectoryBuilder {
  private conflicts: ResourceConflicts;
  private readonly offers = new Map<string, ResourceOffer>();
  private readonly parts = new Map<string, ServerResources>();
  private current: ResourceDirectory;

  constructor(private readonly style: ResourceStyle) {
    this.conflicts = new ResourceConflicts(style);
    this.current = new ResourceDirectory([], style);
  }

  /** The directory without the change of a `put` or `remove` that still runs. A new object only when something changed. */
  get directory(): ResourceDirectory {
    return this.current;
  }

  /** Replaces the ids of the configured servers. */
  setServers(ids: ReadonlySet<string>): void {
    this.current = this.current.withServers(ids);
  }

  /**
   * A builder with the same directory, to which changes can be made independently. No `put` or `remove` may be running.
   */
  *fork(): Steps<ResourceDirectoryBuilder> {
    const fork = new ResourceDirectoryBuilder(this.style);
    fork.conflicts = yield* this.conflicts.fork();
    for (const [server, offer] of this.offers) fork.offers.set(server, offer);
    for (const [server, part] of this.parts) fork.parts.set(server, part);
    fork.current = this.current;
    return fork;
  }

  /** Replaces the resources and templates of a server. */
  *put(offer: ResourceOffer): Steps {
    const old = this.offers.get(offer.server);
    this.offers.set(offer.server, offer);
    if (old?.resources !== offer.resources || old.templates !== offer.templates) {
      const affectedServers = yield* this.conflicts.put(offer);
      yield* this.rebuildParts(affectedServers);
    }
    this.updateDirectory();
  }

  *remove(server: string): Steps {
    if (!this.offers.delete(server)) return;
    this.parts.delete(server);
    const affectedServers = yield* this.conflicts.remove(server);
    yield* this.rebuildParts(affectedServers);
    this.updateDirectory();
  }

  private updateDirectory(): void {
    const parts = [...this.offers.values()]
      .toSorted((a, b) => a.rank - b.rank || (a.server < b.server ? -1 : 1))
      .map(({ server }) => this.parts.get(server)!);
    this.current = this.current.withParts(parts);
  }

  private *rebuildParts(servers: Iterable<string>): Steps {
    for (const server of servers) {
      const offer = this.offers.get(server)!;
      this.parts.set(server, yield* ServerResources.build(offer, this.style, this.conflicts.of(server)));
    }
  }
}
