import { serverUnavailable } from '../../core/errors.js';
import { unlessAborted } from '../../lib/cancellation/unless-aborted.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import type { Caller, ClientSession } from '../../mcp/mcp-context.js';
import { cancelledError, toCallError } from './link-errors.js';
import type { Link, LinkRequest } from './link.js';

interface Slot {
  readonly session: ClientSession;
  readonly link: Promise<Link>;
  readonly removeListener: () => void;
}

/** One link per session, opened at the first call of the session and closed when the session ends. */
export class SessionLinks {
  private readonly slots = new Map<string, Slot>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly server: string,
    private readonly connect: (owner: ClientSession, signal: AbortSignal) => Promise<Link>,
    private readonly onLink: (link: Link, owner: ClientSession) => void,
  ) {}

  get size(): number {
    return this.slots.size;
  }

  /** Opens the link if there is none. Rejects with `server-unavailable` where that fails. */
  async get(session: ClientSession): Promise<Link> {
    if (this.stopping.signal.aborted) throw serverUnavailable(this.server, 'it is being stopped');
    try {
      return await (this.slots.get(session.id)?.link ?? this.open(session));
    } catch (error) {
      throw serverUnavailable(this.server, (error as Error).message, { cause: error });
    }
  }

  /** Sends a request over the link of the caller's session. */
  async request(request: LinkRequest & { readonly caller: Caller }): Promise<JsonText> {
    const { session, signal } = request.caller;
    if (!session) throw serverUnavailable(this.server, 'it needs a client with a session');
    const link = await unlessAborted(signal, this.get(session), cancelledError);
    try {
      return await link.request(request);
    } catch (error) {
      throw toCallError(this.server, error);
    }
  }

  /** Sends a notification over the link of the session; opens none. */
  notify(session: ClientSession, method: string): void {
    const slot = this.slots.get(session.id);
    if (slot) whenOpen(slot, (link) => link.notify(method));
  }

  /** Calls `act` with every open link, and with links that are being opened as soon as they are open. */
  forEach(act: (link: Link) => void): void {
    for (const slot of this.slots.values()) whenOpen(slot, act);
  }

  async closeAll(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.slots.values()].map((slot) => this.drop(slot)));
  }

  private open(session: ClientSession): Promise<Link> {
    const ended = new AbortController();
    const link = this.connect(session, AbortSignal.any([ended.signal, this.stopping.signal]));
    const removeListener = session.onClose(() => {
      ended.abort();
      void this.drop(slot);
    });
    const slot: Slot = { session, link, removeListener };
    this.slots.set(session.id, slot);
    link.then(
      (opened) => {
        this.onLink(opened, session);
        void opened.closed.then(() => this.drop(slot));
      },
      () => this.drop(slot),
    );
    return link;
  }

  private async drop(slot: Slot): Promise<void> {
    if (this.slots.get(slot.session.id) !== slot) return;
    this.slots.delete(slot.session.id);
    slot.removeListener();
    // A link that could not be opened needs no closing.
    const link = await slot.link.catch(() => undefined);
    await link?.close();
  }
}

function whenOpen({ link }: Slot, act: (link: Link) => void): void {
  link.then(act, () => {});
}
