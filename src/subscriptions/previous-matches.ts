import { patternAt } from '../core/resources/resource-pattern.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import type { Subscribers } from './subscribers.js';
import type { UpstreamLink } from './upstream-link.js';

const NO_URIS: ReadonlySet<string> = new Set();

/**
 * Stores the URIs that a lost link had subscribed, until the next link of the same owner is opened. A pattern with more
 * matches than the maximum then watches the same resources as before. Nothing is stored for a link without patterns.
 */
export class PreviousMatches {
  /** By server, then by id of the link's owner, which is undefined for the shared link. */
  private readonly storedUris = new Map<string, Map<string | undefined, ReadonlySet<string>>>();

  constructor(private readonly subscribers: Pick<Subscribers, 'table' | 'owned'>) {}

  /** Call this when the link is lost. */
  store(server: string, { owner, reconciler }: UpstreamLink): void {
    if (!this.hasPattern(server, owner)) return;
    const byOwner = this.storedUris.get(server) ?? new Map<string | undefined, ReadonlySet<string>>();
    this.storedUris.set(server, byOwner.set(owner, new Set(reconciler.uris)));
  }

  /** Call this when the next link is opened. Returns the stored URIs and deletes them. */
  take(server: string, owner: string | undefined): ReadonlySet<string> {
    const uris = this.storedUris.get(server)?.get(owner) ?? NO_URIS;
    this.delete(server, owner);
    return uris;
  }

  /** Call this after a row was removed from the table. */
  rowRemoved(row: Subscription): void {
    const { server } = row;
    for (const owner of [undefined, this.subscribers.owned.ownerOf(row)])
      if (this.storedUris.get(server)?.has(owner) && !this.hasPattern(server, owner))
        this.delete(server, owner);
  }

  private delete(server: string, owner: string | undefined): void {
    const byOwner = this.storedUris.get(server);
    byOwner?.delete(owner);
    if (byOwner?.size === 0) this.storedUris.delete(server);
  }

  private hasPattern(server: string, owner: string | undefined): boolean {
    const { table, owned } = this.subscribers;
    if (owner === undefined) return table.hasPatterns(server);
    for (const row of owned.of(server, owner)) if (patternAt(row)) return true;
    return false;
  }
}
