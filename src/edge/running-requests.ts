import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { GatewayError, limitExceeded } from '../core/errors.js';
import type { Channel } from '../mcp/mcp-context.js';

/** A request in flight, for logs. */
export interface RequestDescription {
  readonly method: string;
  /** Absent if the client is of a revision without sessions. */
  readonly session?: string;
  readonly principal: string;
  readonly client: string | undefined;
  readonly runningMs: number;
}

/** A request that is not answered yet. */
export interface RunningRequest extends Pick<Channel, 'sendRequest'> {
  readonly requestId: RequestId | undefined;
  abort(): void;
  describe(): RequestDescription;
  /** Writes a keep-alive comment to the response if the request has run for `quietMs`. */
  keepAlive(quietMs: number): void;
}

/** The requests of one session that are in flight, by their ids, which the client assigns. */
export class RunningRequests {
  private readonly byId = new Map<RequestId, RunningRequest>();

  constructor(private readonly limit: number) {}

  get size(): number {
    return this.byId.size;
  }

  get latest(): RunningRequest | undefined {
    return [...this.byId.values()].at(-1);
  }

  add(request: RunningRequest): void {
    const id = request.requestId!;
    if (this.byId.has(id))
      throw new GatewayError('invalid-request', `A request with the id ${JSON.stringify(id)} is in flight`);
    if (this.byId.size >= this.limit)
      throw limitExceeded(`${this.limit} requests are in flight in this session`, this.limit);
    this.byId.set(id, request);
  }

  delete(request: RunningRequest): void {
    this.byId.delete(request.requestId!);
  }

  abort(id: RequestId): void {
    this.byId.get(id)?.abort();
  }

  abortAll(): void {
    for (const request of this.byId.values()) request.abort();
  }

  describe(): RequestDescription[] {
    return Array.from(this.byId.values(), (request) => request.describe());
  }

  keepAlive(quietMs: number): void {
    for (const request of this.byId.values()) request.keepAlive(quietMs);
  }
}
