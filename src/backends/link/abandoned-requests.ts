import { Deadlines } from '../../lib/deadlines/deadlines.js';

/** Maximum entries of one link. */
export const MAX_ABANDONED = 1000;

interface AbandonedRequest {
  readonly id: number;
  /** Identifies the client of the request. */
  readonly client: object;
  readonly deadline: number;
}

/**
 * Requests that were cancelled or timed out, and that the server may still execute. An entry is removed when the server
 * responds, or at its deadline, because a server that obeys the cancellation never responds. Of requests beyond the maximum
 * only the last deadline is stored: until then, they count as those of another client.
 */
export class AbandonedRequests {
  private readonly byId = new Map<number, AbandonedRequest>();
  /** Number of abandoned requests of each client. */
  private readonly clients = new Map<object, number>();
  private readonly deadlines = new Deadlines<AbandonedRequest>(
    () => this.byId.values(),
    ({ id }) => this.delete(id),
  );

  private unlistedUntil = 0;

  get isEmpty(): boolean {
    return this.byId.size === 0 && !this.hasUnlisted;
  }

  /** False when the request is not listed, because the maximum is reached. */
  add(id: number, client: object, deadline: number): boolean {
    if (this.byId.size >= MAX_ABANDONED) {
      this.unlistedUntil = Math.max(this.unlistedUntil, deadline);
      return false;
    }
    this.byId.set(id, { id, client, deadline });
    this.clients.set(client, (this.clients.get(client) ?? 0) + 1);
    this.deadlines.watch(deadline);
    return true;
  }

  delete(id: number): void {
    const request = this.byId.get(id);
    if (!request) return;
    this.byId.delete(id);
    const left = this.clients.get(request.client)! - 1;
    if (left > 0) this.clients.set(request.client, left);
    else this.clients.delete(request.client);
  }

  /** Whether a client other than this one has abandoned requests. */
  hasOtherThan(client: object | undefined): boolean {
    return this.hasUnlisted || this.clients.size > (client && this.clients.has(client) ? 1 : 0);
  }

  stop(): void {
    this.deadlines.stop();
  }

  private get hasUnlisted(): boolean {
    return this.unlistedUntil > 0 && this.unlistedUntil > performance.now();
  }
}
