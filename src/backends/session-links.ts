import type { McpClient } from '../mcp/mcp-context.js';
import type { Link } from './link.js';

interface Slot {
  readonly link: Promise<Link>;
  readonly stopListening: () => void;
}

/** A link of its own for every client, opened at its first call and closed when the client goes. */
export class SessionLinks {
  private readonly slots = new Map<string, Slot>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly connect: (owner: McpClient, signal: AbortSignal) => Promise<Link>,
    private readonly onLink: (link: Link) => void,
  ) {}

  get size(): number {
    return this.slots.size;
  }

  of(client: McpClient): Promise<Link> {
    return this.slots.get(client.id)?.link ?? this.open(client);
  }

  /** Over the link the client has; nothing is opened for it. */
  notify(client: McpClient, method: string): void {
    this.slots.get(client.id)?.link.then(
      (link) => link.notify(method),
      () => {},
    );
  }

  async closeAll(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.slots.keys()].map((id) => this.drop(id)));
  }

  private open(client: McpClient): Promise<Link> {
    const gone = new AbortController();
    const link = this.connect(client, AbortSignal.any([gone.signal, this.stopping.signal]));
    const stopListening = client.onClose(() => {
      gone.abort();
      void this.drop(client.id);
    });
    this.slots.set(client.id, { link, stopListening });
    link.then(
      (opened) => {
        this.onLink(opened);
        void opened.closed.then(() => this.drop(client.id));
      },
      () => this.drop(client.id),
    );
    return link;
  }

  private async drop(id: string): Promise<void> {
    const slot = this.slots.get(id);
    if (!slot) return;
    this.slots.delete(id);
    slot.stopListening();
    // A link that never opened has nothing to close.
    const link = await slot.link.catch(() => undefined);
    await link?.close();
  }
}
