import { Deadlines } from '../../lib/deadlines/deadlines.js';
import type { ClientSession } from '../../mcp/mcp-context.js';
import { ORIGIN_GRACE_MS, type ClientKey } from './ended-calls.js';

/** Maximum abandoned requests that are stored for one link. */
export const MAX_ABANDONED = 1000;

interface AbandonedRequest {
  readonly id: number;
  readonly client: ClientKey;
  readonly deadline: number;
}

interface AbandoningClient {
  readonly session: ClientSession | undefined;
  /** Number of abandoned requests of the client. */
  count: number;
}

/**
 * Requests that were cancelled or timed out, and that the server may still execute. An entry is removed when the server
 * responds, or after the grace, because a server that obeys the cancellation never responds. Requests beyond the maximum are
 * not stored: until the grace of the last of them ends, every client counts as having abandoned requests.
 */
export class AbandonedRequests {
  private readonly byId = new Map<number, AbandonedRequest>();
  private readonly clients = new Map<ClientKey, AbandoningClient>();
  private readonly deadlines = new Deadlines<AbandonedRequest>(
    () => this.byId.values(),
    ({ id }) => this.delete(id),
  );

  /** When the grace of the last request ends that was not stored. */
  private unstoredUntil = 0;

  /** False when the request is not stored, because the maximum is reached. */
  add(id: number, client: ClientKey, session: ClientSession | undefined): boolean {
    const deadline = performance.now() + ORIGIN_GRACE_MS;
    if (this.byId.size >= MAX_ABANDONED) {
      this.unstoredUntil = deadline;
      return false;
    }
    this.byId.set(id, { id, client, deadline });
    const known = this.clients.get(client);
    if (known) known.count++;
    else this.clients.set(client, { session, count: 1 });
    this.deadlines.watch(deadline);
    return true;
  }

  /** Returns the client of the request; undefined when the request was not abandoned. */
  delete(id: number): ClientKey | undefined {
    const request = this.byId.get(id);
    if (!request) return undefined;
    this.byId.delete(id);
    const client = this.clients.get(request.client)!;
    if (--client.count === 0) this.clients.delete(request.client);
    return request.client;
  }

  /** Whether another client has abandoned requests. Clients whose session has ended do not count. */
  hasOtherThan(client: ClientKey | undefined): boolean {
    if (this.hasUnstored) return true;
    for (const key of this.openClients()) if (key !== client) return true;
    return false;
  }

  /** The clients with abandoned requests whose session has not ended. */
  *openClients(): Iterable<ClientKey> {
    for (const [key, { session }] of this.clients) if (!session?.isClosed) yield key;
  }

  stop(): void {
    this.deadlines.stop();
  }

  private get hasUnstored(): boolean {
    return this.unstoredUntil > 0 && this.unstoredUntil > performance.now();
  }
}
