import { patternAt } from '../core/resources/resource-pattern.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import type { Subscribers } from './subscribers.js';
import type { UpstreamLink } from './upstream-link.js';

const NONE: ReadonlySet<string> = new Set();

/**
 * The URIs that lost links had subscribed, so that a pattern with more matches than the maximum watches the same resources
 * on the next link. Kept only while there are patterns that need them.
 */
export class PreviousMatches {
  /** By server and owner of the link. */
  private readonly kept = new Map<string, Map<string | undefined, ReadonlySet<string>>>();

  constructor(private readonly subscribers: Pick<Subscribers, 'table' | 'owned'>) {}

  /** To be called when the link is lost. */
  keep(server: string, { owner, reconciler }: UpstreamLink): void {
    if (!this.hasPattern(server, owner)) return;
    const byOwner = this.kept.get(server) ?? new Map<string | undefined, ReadonlySet<string>>();
    this.kept.set(server, byOwner.set(owner, new Set(reconciler.uris)));
  }

  /** To be called for the next link. Removes the URIs and returns them. */
  take(server: string, owner: string | undefined): ReadonlySet<string> {
    const uris = this.kept.get(server)?.get(owner) ?? NONE;
    this.delete(server, owner);
    return uris;
  }

  /** To be called after the row was removed. */
  rowRemoved(row: Subscription): void {
    const { server } = row;
    for (const owner of [undefined, this.subscribers.owned.ownerOf(row)])
      if (this.kept.get(server)?.has(owner) && !this.hasPattern(server, owner)) this.delete(server, owner);
  }

  private delete(server: string, owner: string | undefined): void {
    const byOwner = this.kept.get(server);
    byOwner?.delete(owner);
    if (byOwner?.size === 0) this.kept.delete(server);
  }

  private hasPattern(server: string, owner: string | undefined): boolean {
    const { table, owned } = this.subscribers;
    if (owner === undefined) return table.hasPatterns(server);
    for (const row of owned.of(server, owner)) if (patternAt(row)) return true;
    return false;
  }
}
