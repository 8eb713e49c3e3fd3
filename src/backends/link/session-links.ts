import type { ClientSession } from '../../mcp/mcp-context.js';
import type { Link } from './link.js';
import { TransportError } from './transport.js';

interface Slot {
  readonly client: ClientSession;
  readonly link: Promise<Link>;
  readonly stopListening: () => void;
}

/** One link per session, opened at its first call and closed when the session ends. */
export class SessionLinks {
  private readonly slots = new Map<string, Slot>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly connect: (owner: ClientSession, signal: AbortSignal) => Promise<Link>,
    private readonly onLink: (link: Link, owner: ClientSession) => void,
  ) {}

  get size(): number {
    return this.slots.size;
  }

  get(client: ClientSession): Promise<Link> {
    if (this.stopping.signal.aborted)
      return Promise.reject(new TransportError('unreachable', 'it is being stopped'));
    return this.slots.get(client.id)?.link ?? this.open(client);
  }

  /** Sends a notification over the link of the session; opens none. */
  notify(client: ClientSession, method: string): void {
    const slot = this.slots.get(client.id);
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

  private open(client: ClientSession): Promise<Link> {
    const gone = new AbortController();
    const link = this.connect(client, AbortSignal.any([gone.signal, this.stopping.signal]));
    const stopListening = client.onClose(() => {
      gone.abort();
      void this.drop(slot);
    });
    const slot: Slot = { client, link, stopListening };
    this.slots.set(client.id, slot);
    link.then(
      (opened) => {
        this.onLink(opened, client);
        void opened.closed.then(() => this.drop(slot));
      },
      () => this.drop(slot),
    );
    return link;
  }

  private async drop(slot: Slot): Promise<void> {
    if (this.slots.get(slot.client.id) !== slot) return;
    this.slots.delete(slot.client.id);
    slot.stopListening();
    // A link that could not be opened needs no closing.
    const link = await slot.link.catch(() => undefined);
    await link?.close();
  }
}

function whenOpen({ link }: Slot, act: (link: Link) => void): void {
  link.then(act, () => {});
}
