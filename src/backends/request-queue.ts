import { Deadlines } from '../lib/deadlines/deadlines.js';
import { FairQueue } from '../lib/queues/fair-queue.js';
import { GroupedFairQueue, type IsReady } from '../lib/queues/grouped-fair-queue.js';
import type { Caller } from '../mcp/mcp-context.js';

/** The principal and the session of a call. The queue is fair between principals, and between the sessions of one principal. */
export type CallerKeys = Pick<Caller, 'quotaKey' | 'key'>;

export interface QueuedRequest {
  /** Whether no other request may run during this one. */
  readonly exclusive: boolean;
  /** A time of `performance.now()`. */
  readonly deadline: number;
  /** The time of `performance.now()` since which this exclusive request has kept all other requests from starting. */
  holdsBackSince?: number;
  /** Makes the request. To be called after the request was removed from the queue. */
  start(): void;
  /** Removes the request from the queue and rejects it. */
  fail(error: Error): void;
}

/** Whether a principal may make its next call. */
type MayStart = IsReady<QueuedRequest>;

/** A queued request fails up to this long after its deadline, so that deadlines close to each other share one timer. */
const DEADLINE_STEP_MS = 10;

/**
 * The requests that wait for a slot of one server. Calls of clients are taken in turn from each principal, and for one
 * principal in turn from each of its sessions. Requests of the gateway itself alternate with calls.
 */
export class RequestQueue {
  private readonly calls = new GroupedFairQueue<QueuedRequest>();
  private readonly background = new FairQueue<QueuedRequest>();
  private isBackgroundNext = false;
  private readonly deadlines: Deadlines<QueuedRequest>;

  /** `expire` is called with a request whose deadline has passed. */
  constructor(expire: (request: QueuedRequest) => void) {
    this.deadlines = new Deadlines<QueuedRequest>(() => this, expire, DEADLINE_STEP_MS);
  }

  get size(): number {
    return this.calls.size + this.background.size;
  }

  /** Number of queued calls of clients. */
  get callCount(): number {
    return this.calls.size;
  }

  /** The principals with queued calls. */
  get principals(): Iterable<string> {
    return this.calls.groupKeys;
  }

  callCountOf(principal: string): number {
    return this.calls.sizeOf(principal);
  }

  /** Whether a queued call may take a slot, so that it has precedence over a call that arrives now. */
  hasReadyCall(mayStart: MayStart): boolean {
    return this.calls.size > 0 && this.calls.peek(mayStart) !== undefined;
  }

  /** The newest call of the principal with the most queued calls, and their number. */
  newestOfLargest(): { readonly item: QueuedRequest; readonly groupSize: number } | undefined {
    return this.calls.newestOfLargest();
  }

  /** Returns a function that removes the call. */
  addCall({ quotaKey, key }: CallerKeys, call: QueuedRequest): () => void {
    const entry = this.calls.push(quotaKey, key, call);
    this.deadlines.watch(call.deadline);
    return () => this.calls.remove(entry);
  }

  /** Adds a request of the gateway itself. Requests of one kind are served in order. Returns a function that removes it. */
  addBackground(kind: string, request: QueuedRequest): () => void {
    const entry = this.background.push(kind, request);
    this.deadlines.watch(request.deadline);
    return () => this.background.remove(entry);
  }

  /**
   * Removes and returns the next request, if `admits` returns true for it. The next request is a call for which `mayStart`
   * returns true or, if `admitsBackground` is true, a request of the gateway itself.
   */
  take(
    admits: (request: QueuedRequest) => boolean,
    mayStart: MayStart,
    admitsBackground: boolean,
  ): QueuedRequest | undefined {
    const call = this.calls.peek(mayStart);
    const request = admitsBackground ? this.background.peek() : undefined;
    const isBackground = request !== undefined && (call === undefined || this.isBackgroundNext);
    const next = isBackground ? request : call;
    if (!next || !admits(next)) return undefined;
    this.isBackgroundNext = !isBackground;
    if (isBackground) this.background.shift();
    else this.calls.shift(mayStart);
    return next;
  }

  /** To be called after requests were removed. */
  stopTimerIfEmpty(): void {
    if (this.size === 0) this.deadlines.stop();
  }

  /** All queued requests. During the iteration, the current request may be removed. */
  *[Symbol.iterator](): Generator<QueuedRequest, void, undefined> {
    yield* this.calls;
    yield* this.background;
  }
}
