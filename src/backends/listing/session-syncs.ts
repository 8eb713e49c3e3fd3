import type { Listing } from '../../core/catalog/catalog.js';
import type { RemoteError } from '../../core/errors.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import type { LinkOwner } from '../../mcp/mcp-context.js';
import type { Link, LinkRequest } from '../link/link.js';
import type { Kind } from './list-kinds.js';
import { SESSION_LIST_LIMITS } from './list-limits.js';
import { ListingSync, type SyncEvents } from './listing-sync.js';
import { ListDeduplicator } from './list-deduplicator.js';

interface SessionSyncEvents {
  /** A list of the owner was fetched. Resolves when the owner's catalog has it. */
  listed(owner: LinkOwner, listing: Listing): Promise<void>;
  /** A list of one owner was not used, because it is over a limit. */
  truncated(): void;
  refreshMs(): number;
}

/** Syncs the listing of one server separately for each link owner that has its own link to the server. */
export class SessionSyncs {
  /** By id of the link's owner. */
  private readonly byOwner = new Map<string, ListingSync>();
  private readonly deduplicator = new ListDeduplicator();

  constructor(
    private readonly server: string,
    private readonly events: SessionSyncEvents,
    private readonly send: (link: Link, request: LinkRequest) => Promise<JsonText>,
    /** The listing of the shared link. */
    private readonly sharedListing: () => Listing | undefined,
  ) {}

  /** Starts to sync over the new link of this owner, until the link or the owner is closed. */
  attach(link: Link, owner: LinkOwner): void {
    if (owner.isClosed) return;
    const sync = this.byOwner.get(owner.id) ?? this.create(owner);
    link.onGap(() => sync.fetchAfterGap());
    void link.closed.then(() => sync.detach());
    sync.attach(link);
  }

  /** Schedules a sync after a list change. Returns false when the notification is not a list change. */
  handleListChange(owner: LinkOwner, method: string): boolean {
    return this.byOwner.get(owner.id)?.handleListChange(method) ?? false;
  }

  /** Fetches a list of the owner again (`ListingSync.refetch`). */
  async refetch(owner: LinkOwner, kind: Kind): Promise<void> {
    await this.byOwner.get(owner.id)?.refetch(kind);
  }

  /** To be called when the server answered a request of the owner with an error (`ListRefresh.handleErrorAnswer`). */
  handleErrorAnswer(owner: LinkOwner, request: LinkRequest, error: RemoteError): void {
    this.byOwner.get(owner.id)?.refresh.handleErrorAnswer(request, error);
  }

  /** Resolves when the first sync over the link of the owner is complete, or after the timeout. */
  async whenSynced(owner: LinkOwner, timeoutMs: number): Promise<void> {
    await this.byOwner.get(owner.id)?.whenSynced(timeoutMs);
  }

  stop(): void {
    for (const sync of this.byOwner.values()) sync.stop();
    this.byOwner.clear();
  }

  private create(owner: LinkOwner): ListingSync {
    const events: SyncEvents = {
      publish: (listing) => this.events.listed(owner, listing),
      failuresChanged: () => undefined,
      refreshMs: () => this.events.refreshMs(),
    };
    const sync = new ListingSync(this.server, events, this.send, {
      limits: SESSION_LIST_LIMITS,
      onTruncated: () => this.events.truncated(),
      deduplicate: (lists) => this.deduplicator.deduplicate(lists, this.sharedListing()),
    });
    this.byOwner.set(owner.id, sync);
    const removeListener = owner.onClose(() => {
      removeListener();
      sync.stop();
      if (this.byOwner.get(owner.id) === sync) this.byOwner.delete(owner.id);
    });
    return sync;
  }
}
