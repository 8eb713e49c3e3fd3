import type { ResourceUpdate } from './resource-update.js';

/** After this time, held updates are sent even if the public URIs of their resources may still change. */
const MAX_HOLD_MS = 10_000;

/** Holds updates from servers that have not listed their resources yet, because public URIs depend on the lists. */
export class UnlistedUpdates {
  /** By server, then by key of the update: the latest update. There are at most as many as subscribed resources. */
  private readonly heldUpdates = new Map<string, Map<string, ResourceUpdate>>();

  constructor(
    private readonly hasFinalUris: (server: string) => boolean,
    private readonly release: (update: ResourceUpdate) => void,
  ) {}

  /** Holds the update if the public URIs of its server are not final. Returns whether the update is held. */
  hold(update: ResourceUpdate): boolean {
    const { server, key } = update;
    if (this.hasFinalUris(server)) return false;
    let updates = this.heldUpdates.get(server);
    if (!updates) {
      updates = new Map();
      this.heldUpdates.set(server, updates);
      setTimeout(() => this.releaseAll(server), MAX_HOLD_MS).unref();
    }
    updates.set(key, update);
    return true;
  }

  /** Call this after every sync of a server. */
  releaseIfListed(server: string): void {
    if (this.heldUpdates.has(server) && this.hasFinalUris(server)) this.releaseAll(server);
  }

  private releaseAll(server: string): void {
    const updates = this.heldUpdates.get(server);
    this.heldUpdates.delete(server);
    for (const update of updates?.values() ?? []) this.release(update);
  }
}
