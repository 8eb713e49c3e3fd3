import { Deadlines } from '../../lib/deadlines/deadlines.js';
import type { Caller, LinkOwner } from '../../mcp/mcp-context.js';
import { ORIGIN_GRACE_MS, type ClientKey, type EndedCalls } from './ended-calls.js';

/** Maximum abandoned requests that are stored for one link. */
export const MAX_ABANDONED = 1000;

interface AbandonedRequest {
  readonly id: number;
  readonly client: ClientKey;
  /** The end of `ORIGIN_GRACE_MS`, as a time of `performance.now()`. */
  readonly deadline: number;
}

interface AbandoningClient {
  readonly key: ClientKey;
  /** The key of the client's principal: see `Caller`. */
  readonly quotaKey: string;
  readonly session: LinkOwner | undefined;
  /** Number of abandoned requests of the client. */
  count: number;
}

/**
 * Requests that were cancelled or timed out, and that the server may still execute. An entry is removed when the server
 * responds, or after `ORIGIN_GRACE_MS` (the grace), because a server that obeys the cancellation never responds. After the
 * grace, the request is added to `EndedCalls` with the time at which it was abandoned: its messages may still come late, on a
 * notification stream that was interrupted. Requests beyond the maximum are not stored. Until the grace of the last of them
 * ends, every client counts as having abandoned requests.
 */
export class AbandonedRequests {
  private readonly byId = new Map<number, AbandonedRequest>();
  private readonly clients = new Map<ClientKey, AbandoningClient>();
  private readonly deadlines = new Deadlines<AbandonedRequest>(
    () => this.byId.values(),
    (request) => this.expire(request),
  );

  /** The end of the grace of the last request that was not stored; 0 if there was none. */
  private unstoredUntil = 0;

  constructor(private readonly ended: EndedCalls) {}

  /** Returns false when the request is not stored, because the maximum is reached. */
  add(id: number, client: ClientKey, { session, quotaKey }: Caller): boolean {
    const deadline = performance.now() + ORIGIN_GRACE_MS;
    if (this.byId.size >= MAX_ABANDONED) {
      this.unstoredUntil = deadline;
      return false;
    }
    this.byId.set(id, { id, client, deadline });
    const entry = this.clients.get(client);
    if (entry) entry.count++;
    else this.clients.set(client, { key: client, quotaKey, session, count: 1 });
    this.deadlines.watch(deadline);
    return true;
  }

  /** To be called when the server has responded to a request. Returns the client if the request was abandoned. */
  responded(id: number): Pick<AbandoningClient, 'key' | 'quotaKey'> | undefined {
    const request = this.byId.get(id);
    return request && this.delete(request);
  }

  /** Whether a client other than this one has abandoned requests. Clients whose session has ended do not count. */
  hasOtherThan(client: ClientKey | undefined): boolean {
    if (this.hasUnstored) return true;
    for (const { key } of this.openClients()) if (key !== client) return true;
    return false;
  }

  /** To be called when messages that are read from now on may have been sent since `time`. Extends the grace. */
  renew(time: number): void {
    for (const { key, quotaKey } of this.openClients()) this.ended.add(key, quotaKey);
    if (time < this.unstoredUntil) this.unstoredUntil = performance.now() + ORIGIN_GRACE_MS;
  }

  /** To be called when the link has closed, so that the server does not respond any more. */
  stop(): void {
    this.deadlines.stop();
    for (const request of this.byId.values()) this.expire(request);
  }

  /** Moves a request to `EndedCalls`. */
  private expire(request: AbandonedRequest): void {
    const { key, quotaKey, session } = this.delete(request);
    if (!session?.isClosed) this.ended.add(key, quotaKey, request.deadline - ORIGIN_GRACE_MS);
  }

  /** Deletes a request and returns its client. */
  private delete(request: AbandonedRequest): AbandoningClient {
    this.byId.delete(request.id);
    const client = this.clients.get(request.client)!;
    client.count--;
    if (client.count === 0) this.clients.delete(request.client);
    return client;
  }

  /** The clients with abandoned requests whose session has not ended. */
  private *openClients(): Iterable<AbandoningClient> {
    for (const client of this.clients.values()) if (!client.session?.isClosed) yield client;
  }

  private get hasUnstored(): boolean {
    return this.unstoredUntil > 0 && this.unstoredUntil > performance.now();
  }
}
