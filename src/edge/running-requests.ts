import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { GatewayError, limitExceeded } from '../core/errors.js';
import type { Channel } from '../mcp/mcp-context.js';

/** The log fields of a request in flight. */
export interface RequestDescription {
  readonly method: string;
  readonly tool?: string;
  readonly prompt?: string;
  readonly uri?: string;
  readonly server?: string;
  /** Absent in the 2026 era. */
  readonly session?: string;
  readonly principal: string;
  readonly client: string | undefined;
  readonly runningMs: number;
}

/** A request that is not answered yet. */
export interface RunningRequest extends Pick<Channel, 'sendRequest'> {
  readonly requestId: RequestId | undefined;
  abort(): void;
  /** When the request arrived, as `performance.now()`. */
  readonly startedAt: number;
  describe(now: number): RequestDescription;
  /** Writes a keep-alive comment to the response if the request has run for `quietMs`. */
  keepAlive(quietMs: number): void;
}

/**
 * The requests of one session that are in flight. Most sessions have few, so they are in an array: a Map would allocate a
 * new table after every few requests.
 */
export class RunningRequests {
  private readonly requests: RunningRequest[] = [];

  constructor(private readonly limit: number) {}

  get size(): number {
    return this.requests.length;
  }

  get latest(): RunningRequest | undefined {
    return this.requests.at(-1);
  }

  /** Throws if a request with the same id is in flight, or if the limit is reached. */
  add(request: RunningRequest): void {
    const id = request.requestId!;
    if (this.find(id))
      throw new GatewayError('invalid-request', `A request with the id ${JSON.stringify(id)} is in flight`);
    if (this.size >= this.limit)
      throw limitExceeded(`${this.limit} requests are in flight in this session`, this.limit);
    this.requests.push(request);
  }

  delete(request: RunningRequest): void {
    const index = this.requests.indexOf(request);
    if (index !== -1) this.requests.splice(index, 1);
  }

  abort(id: RequestId): void {
    this.find(id)?.abort();
  }

  abortAll(): void {
    for (const request of this.requests.slice()) request.abort();
  }

  get all(): Iterable<RunningRequest> {
    return this.requests;
  }

  keepAlive(quietMs: number): void {
    for (const request of this.requests.slice()) request.keepAlive(quietMs);
  }

  /** The request to which the client has assigned this id. */
  private find(id: RequestId): RunningRequest | undefined {
    return this.requests.find(({ requestId }) => requestId === id);
  }
}
