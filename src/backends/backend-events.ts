import type { Listing } from '../core/catalog/catalog.js';
import type { ClientSession } from '../mcp/mcp-context.js';
import type { Link, ServerNotification } from './link/link.js';

/** What a backend reports to the Backends service. */
export interface BackendEvents {
  /** A list was fetched. Resolves when the catalog has the listing. */
  listed(listing: Listing): Promise<void>;
  /** The shared link was opened, or lost. */
  linkChanged(link: Link | undefined): void;
  /** A link of one session was opened. `link.closed` resolves when the link ends. */
  sessionLinkOpened(link: Link, owner: ClientSession): void;
  /** `owner` is set for a notification over the link of one session. */
  notified(notification: ServerNotification, owner?: ClientSession): void;
  stateChanged(): void;
  /** A list was fetched over the link of one session. Resolves when the catalog of the session has it. */
  sessionListed(owner: ClientSession, listing: Listing): Promise<void>;
  /** A list of one session was not used, because it is over a limit. */
  sessionListTruncated(): void;
}
