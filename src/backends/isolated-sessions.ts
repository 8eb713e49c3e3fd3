import type { Listing } from '../core/catalog/catalog.js';
import type { GatewayError } from '../core/errors.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import type { Caller, ClientSession } from '../mcp/mcp-context.js';
import type { PrincipalQuota } from '../state/principal-quota.js';
import type { BackendEvents } from './backend-events.js';
import type { LinkFactory } from './link/link-factory.js';
import type { Link, LinkRequest, ServerNotification } from './link/link.js';
import type { ServerLog } from './link/server-log.js';
import { SessionLinks } from './link/session-links.js';
import { SessionSyncs } from './listing/session-syncs.js';

/** The parts of a backend that its isolated sessions use. */
interface BackendParts {
  readonly id: string;
  readonly events: BackendEvents;
  readonly log: ServerLog;
  /** Counts the child processes of each principal; undefined for an HTTP server, whose links have no process. */
  readonly processes: PrincipalQuota | undefined;
  refreshMs(): number;
  sharedListing(): Listing | undefined;
  unavailableError(): GatewayError | undefined;
  /** Sends a request of the gateway itself. */
  send(link: Link, request: LinkRequest): Promise<JsonText>;
}

/** The sessions at one server with `isolation: session`: each session has a link and a listing of its own. */
export class IsolatedSessions {
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
        refused: (owner, request, error) => this.syncs.handleRefusal(owner, request, error),
      },
      processes,
    );
    this.syncs = new SessionSyncs(
      id,
      {
        listed: (owner, listing) => events.sessionListed(owner, listing),
        truncated: () => events.sessionListTruncated(),
        refreshMs: () => backend.refreshMs(),
      },
      (link, request) => backend.send(link, request),
      () => backend.sharedListing(),
    );
  }

  /** Whether the link of this session is open, or is being opened. */
  hasLink(session: ClientSession): boolean {
    return this.links.has(session);
  }

  /** The link of the session, which is opened if there is none. Rejects when the server is not available. */
  async link(session: ClientSession): Promise<Link> {
    const unavailable = this.backend.unavailableError();
    if (unavailable) throw unavailable;
    return this.links.get(session);
  }

  /** Opens the link of the session and waits until its lists are fetched, for at most `timeoutMs` after the link is open. */
  async whenListed(session: ClientSession, timeoutMs: number): Promise<void> {
    await this.link(session);
    await this.syncs.whenSynced(session, timeoutMs);
  }

  /** Fetches the tools of the session again. Resolves when the catalog of the session has them. */
  async refetchTools(session: ClientSession | undefined): Promise<void> {
    if (session) await this.syncs.refetch(session, 'tools');
  }

  /** Sends a request of a client over the link of its session. */
  request(request: LinkRequest & { readonly caller: Caller }): Promise<JsonText> {
    const error = this.backend.unavailableError();
    return error ? Promise.reject(error) : this.links.request(request);
  }

  /** Notifies the server over the link of this session, if there is one. */
  notify(session: ClientSession, method: string): void {
    this.links.notify(session, method);
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

  private linkOpened(link: Link, owner: ClientSession): void {
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

  /** Notifications over the link of one session are for that session alone. */
  private handleNotification(notification: ServerNotification, owner: ClientSession): void {
    const { events, log } = this.backend;
    const { method } = notification;
    if (method === 'notifications/resources/updated') events.notified(notification, owner);
    else if (!this.syncs.handleListChange(owner, method)) log.handle(notification);
  }
}
