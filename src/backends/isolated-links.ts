import type { Listing } from '../core/catalog/catalog.js';
import type { GatewayError } from '../core/errors.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import type { Caller, LinkOwner } from '../mcp/mcp-context.js';
import type { PrincipalQuota } from '../state/principal-quota.js';
import type { BackendEvents } from './backend-events.js';
import type { LinkFactory } from './link/link-factory.js';
import type { Link, LinkRequest, ServerNotification } from './link/link.js';
import type { ServerLog } from './link/server-log.js';
import { SessionLinks } from './link/session-links.js';
import { SessionSyncs } from './listing/session-syncs.js';

/** The parts of a backend that `IsolatedLinks` uses. */
interface BackendParts {
  readonly id: string;
  readonly events: BackendEvents;
  readonly log: ServerLog;
  /** Counts the child processes of each principal; undefined for an HTTP server, whose links have no process. */
  readonly processes: PrincipalQuota | undefined;
  refreshMs(): number;
  sharedListing(): Listing | undefined;
  /** See `Backend`. */
  refuseIfUnavailable(): GatewayError | undefined;
  /** Sends a request of the gateway itself. */
  send(link: Link, request: LinkRequest): Promise<JsonText>;
}

/** The links and listings at one server with `isolation: session`: each link owner has a link and a listing of its own. */
export class IsolatedLinks {
  private readonly links: SessionLinks;
  private readonly syncs: SessionSyncs;
  /** The ids of the process groups of open links. */
  readonly pids = new Set<number>();

  constructor(
    connect: LinkFactory,
    private readonly backend: BackendParts,
  ) {
    const { id, events, processes } = backend;
    this.links = new SessionLinks(
      id,
      (owner, signal) => connect(signal, owner),
      {
        opened: (link, owner) => this.linkOpened(link, owner),
        answeredWithError: (owner, request, error) => this.syncs.handleErrorAnswer(owner, request, error),
      },
      processes,
    );
    this.syncs = new SessionSyncs(
      id,
      {
        listed: (owner, listing) => events.sessionListed(owner, listing),
        truncated: () => events.sessionListOverLimit(),
        refreshMs: () => backend.refreshMs(),
      },
      (link, request) => backend.send(link, request),
      () => backend.sharedListing(),
    );
  }

  /** Whether the link of this owner is open, or is being opened. */
  hasLink(owner: LinkOwner): boolean {
    return this.links.has(owner);
  }

  /** The link of the owner, which is opened if there is none. Rejects when the server is not available. */
  async link(owner: LinkOwner): Promise<Link> {
    const unavailable = this.backend.refuseIfUnavailable();
    if (unavailable) throw unavailable;
    return this.links.get(owner);
  }

  /** Opens the link of the owner and waits until its lists are fetched, for at most `timeoutMs` after the link is open. */
  async whenListed(owner: LinkOwner, timeoutMs: number): Promise<void> {
    await this.link(owner);
    await this.syncs.whenSynced(owner, timeoutMs);
  }

  /** Fetches the list of tools again, over the link of the owner. Resolves when the owner's catalog has the list. */
  async refetchTools(owner: LinkOwner | undefined): Promise<void> {
    if (owner) await this.syncs.refetch(owner, 'tools');
  }

  /** Sends a request of a client over the link of the caller's `linkOwner`. */
  request(request: LinkRequest & { readonly caller: Caller }): Promise<JsonText> {
    const error = this.backend.refuseIfUnavailable();
    return error ? Promise.reject(error) : this.links.request(request);
  }

  /** Notifies the server over the link of this owner, if there is one. */
  notify(owner: LinkOwner, method: string): void {
    this.links.notify(owner, method);
  }

  /** Sends the current log level over all links. */
  applyLogLevel(): void {
    this.links.forEach((link) => this.backend.log.apply(link));
  }

  stopSyncs(): void {
    this.syncs.stop();
  }

  /** Resolves when the processes of the links are gone. */
  async close(): Promise<void> {
    await this.links.closeAll();
  }

  private linkOpened(link: Link, owner: LinkOwner): void {
    this.backend.log.apply(link);
    link.onNotification((notification) => this.handleNotification(notification, owner));
    this.syncs.attach(link, owner);
    const { pid } = link;
    if (pid !== undefined) {
      this.pids.add(pid);
      void link.closed.then(() => this.pids.delete(pid));
    }
    this.backend.events.sessionLinkOpened(link, owner);
  }

  /** Notifications over the link of one owner are for that owner alone. */
  private handleNotification(notification: ServerNotification, owner: LinkOwner): void {
    const { events, log } = this.backend;
    const { method } = notification;
    if (method === 'notifications/resources/updated') events.notified(notification, owner);
    else if (!this.syncs.handleListChange(owner, method)) log.handle(notification);
  }
}
