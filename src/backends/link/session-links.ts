import { GatewayError, RemoteError, serverUnavailable } from '../../core/errors.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import type { Caller, LinkOwner } from '../../mcp/mcp-context.js';
import type { PrincipalQuota } from '../../state/principal-quota.js';
import { downError, failureCauseOf } from './failure-cause.js';
import { toCallError } from './link-errors.js';
import type { Link, LinkRequest } from './link.js';
import { waitForLink } from './wait-for-link.js';

interface SessionLink {
  readonly owner: LinkOwner;
  /** The principal under which the process of the link is counted. */
  readonly quotaKey: string;
  readonly link: Promise<Link>;
  readonly removeListener: () => void;
}

interface SessionLinkObserver {
  opened(link: Link, owner: LinkOwner): void;
  /** The server answered a request of the owner with an error. */
  answeredWithError?(owner: LinkOwner, request: LinkRequest, error: RemoteError): void;
}

/** One link per link owner, opened when it is first needed and closed when the owner is closed. */
export class SessionLinks {
  private readonly byOwner = new Map<string, SessionLink>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly server: string,
    private readonly connect: (owner: LinkOwner, signal: AbortSignal) => Promise<Link>,
    private readonly observer: SessionLinkObserver,
    /** Counts the child processes of each principal; undefined for an HTTP server, whose links have no process. */
    private readonly processes?: PrincipalQuota,
  ) {}

  get size(): number {
    return this.byOwner.size;
  }

  has(owner: LinkOwner): boolean {
    return this.byOwner.has(owner.id);
  }

  /** The link of the owner, which is opened if there is none. Rejects with `server-unavailable` or `limit-exceeded`. */
  async get(owner: LinkOwner): Promise<Link> {
    if (this.stopping.signal.aborted)
      throw serverUnavailable(this.server, 'it is being stopped', { reason: 'disabled' });
    try {
      return await (this.byOwner.get(owner.id)?.link ?? this.open(owner));
    } catch (error) {
      if (error instanceof GatewayError && error.kind === 'limit-exceeded') throw error;
      throw downError(this.server, failureCauseOf(error), { cause: error });
    }
  }

  /** Sends a request over the link of the caller's `linkOwner`. Rejects with `server-unavailable` if the caller has none. */
  async request(request: LinkRequest & { readonly caller: Caller }): Promise<JsonText> {
    const { linkOwner } = request.caller;
    if (!linkOwner)
      throw serverUnavailable(this.server, 'it needs a client with a session, or with credentials', {
        reason: 'session-required',
      });
    const link = await waitForLink(this.server, this.get(linkOwner), request);
    try {
      return await link.request(request);
    } catch (error) {
      if (error instanceof RemoteError) this.observer.answeredWithError?.(linkOwner, request, error);
      throw toCallError(this.server, error);
    }
  }

  /** Sends a notification over the link of the owner, if there is one. */
  notify(owner: LinkOwner, method: string): void {
    const entry = this.byOwner.get(owner.id);
    if (entry) whenOpen(entry, (link) => link.notify(method));
  }

  /** Calls `act` with every open link. If a link is being opened, calls it as soon as the link is open. */
  forEach(act: (link: Link) => void): void {
    for (const entry of this.byOwner.values()) whenOpen(entry, act);
  }

  /** Resolves when all links are closed. No further link is opened. */
  async closeAll(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.byOwner.values()].map((entry) => this.remove(entry)));
  }

  /** Opens the link of an owner. Rejects when the owner is closed, or its principal has too many processes. */
  private open(owner: LinkOwner): Promise<Link> {
    const closed = new AbortController();
    // The owner calls the listener at once if it is closed already.
    const removeListener = owner.onClose(() => {
      closed.abort();
      const entry = this.byOwner.get(owner.id);
      if (entry) void this.remove(entry);
    });
    if (closed.signal.aborted) {
      removeListener();
      return Promise.reject(new Error('the session of the client has ended'));
    }
    const { quotaKey } = owner;
    if (this.processes?.claim(quotaKey) === false) {
      removeListener();
      return Promise.reject(this.processes.refuse());
    }
    const link = this.connect(owner, AbortSignal.any([closed.signal, this.stopping.signal]));
    const entry: SessionLink = { owner, quotaKey, link, removeListener };
    this.byOwner.set(owner.id, entry);
    link.then(
      (opened) => {
        this.observer.opened(opened, owner);
        void opened.closed.then(() => this.remove(entry));
      },
      () => this.remove(entry),
    );
    return link;
  }

  /** Closes the link. Does nothing if it was removed before. */
  private async remove(entry: SessionLink): Promise<void> {
    if (this.byOwner.get(entry.owner.id) !== entry) return;
    this.byOwner.delete(entry.owner.id);
    entry.removeListener();
    // A link that could not be opened need not be closed.
    const link = await entry.link.catch(() => undefined);
    await link?.close();
    this.processes?.release(entry.quotaKey);
  }
}

function whenOpen({ link }: SessionLink, act: (link: Link) => void): void {
  link.then(act, () => {});
}
