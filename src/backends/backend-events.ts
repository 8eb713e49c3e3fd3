import type { Listing } from '../core/catalog/catalog.js';
import type { LinkOwner } from '../mcp/mcp-context.js';
import type { Link, ServerNotification } from './link/link.js';

/** What a backend reports to the Backends service. */
export interface BackendEvents {
  /** A list was fetched. Resolves when the catalog has the listing. */
  listed(listing: Listing): Promise<void>;
  /** The shared link was opened, or lost. */
  linkChanged(link: Link | undefined): void;
  /** A link of one owner was opened. `link.closed` resolves when the link ends. */
  sessionLinkOpened(link: Link, owner: LinkOwner): void;
  /** `owner` is set for a notification over the link of one owner. */
  notified(notification: ServerNotification, owner?: LinkOwner): void;
  stateChanged(): void;
  /** A list was fetched over the link of one owner. Resolves when the owner's catalog has it. */
  sessionListed(owner: LinkOwner, listing: Listing): Promise<void>;
  /** A list of one owner was not used, because it is over a limit. */
  sessionListOverLimit(): void;
}
