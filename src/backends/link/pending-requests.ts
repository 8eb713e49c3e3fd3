import { randomInt } from 'node:crypto';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { MemoryLimit } from '../../core/memory-limits.js';
import { Deadlines } from '../../lib/deadlines/deadlines.js';
import { IdTable } from '../../lib/id-table/id-table.js';
import { JsonText, type Member } from '../../lib/json-text/json-text.js';
import { Waiters } from '../../lib/listeners/waiters.js';
import type { Inbound } from '../../mcp/json-rpc.js';
import type { Caller } from '../../mcp/mcp-context.js';
import { membersWithToken, progressTokenOf, progressWithToken } from '../../mcp/params.js';
import { AbandonedRequests } from './abandoned-requests.js';
import { EndedCalls, type ClientKey } from './ended-calls.js';
import { brokenError, cancelledError, isLongError, remoteError, timeoutError } from './link-errors.js';
import type { LinkRequest } from './link.js';
import { RisingProgress } from './rising-progress.js';

/** Progress and open server requests extend the deadline of a request, up to this multiple of its timeout. */
const MAX_TIMEOUT_FACTOR = 10;

/** A request that was sent and not answered yet. */
export interface PendingRequest {
  /** Unique on the link; also the progress token that the server sees. */
  readonly id: number;
  readonly request: LinkRequest;
  /** The client's own progress token, as the client wrote it. */
  readonly clientToken: string | undefined;
  /** The members of the params, if they are known. */
  readonly paramsMembers: readonly Member[] | undefined;
  readonly resolve: (result: JsonText) => void;
  readonly reject: (error: Error) => void;
  readonly onAbort: () => void;
  maxDeadline: number;
  deadline: number;
}

export type AbandonReason = 'cancelled' | 'timeout';

interface PendingRequestEvents {
  /** A request was cancelled by its caller or timed out. Called before its promise is rejected. */
  abandoned(pending: PendingRequest, reason: AbandonReason): void;
  /** A request of this caller is no longer pending. */
  removed(caller: Caller): void;
  /** A limit is reached; what exceeds it is not stored. */
  limitReached(limit: MemoryLimit): void;
  /** Whether the server waits for a response of the client during this call. The call does not time out meanwhile. */
  isWaitingForClient(caller: Caller): boolean;
  /** The server answered with an error. Returns the error with which the promise is rejected. */
  refused(error: Error): Error;
}

/** The calls that a message of the server may belong to. */
interface MessageOrigin {
  /** Calls of one client, the latest last. */
  readonly callers: readonly Caller[];
  /** Whether the message may belong to a call that cannot be determined. */
  readonly ambiguous: boolean;
}

const NO_CALL: MessageOrigin = { callers: [], ambiguous: false };
const AMBIGUOUS: MessageOrigin = { callers: [], ambiguous: true };

/** The pending requests of one link: matches responses, enforces deadlines, and finds the client of a server message. */
export class PendingRequests {
  /**
   * The first id is random, so that a client cannot guess the id of another client's call and send it as a progress
   * token. Ids start below 2^30, because V8 formats small integers several times faster.
   */
  private readonly byId = new IdTable<PendingRequest>(randomInt(2 ** 30));
  /** Messages that abandoned requests and calls that just ended may have caused must not reach another client. */
  private readonly abandoned: AbandonedRequests;
  /** The progress that was forwarded to a caller, for which several requests may be sent. */
  private readonly progress = new WeakMap<Caller, RisingProgress>();
  private readonly deadlines: Deadlines<PendingRequest>;
  private readonly emptyWaiters = new Waiters();

  constructor(
    private readonly server: string,
    private readonly events: PendingRequestEvents,
    /** Whether all messages arrive on one stream: a message of a call usually arrives before the response to that call. */
    private readonly isOrdered = false,
    private readonly ended = new EndedCalls(),
  ) {
    this.abandoned = new AbandonedRequests(ended);
    this.deadlines = new Deadlines(
      () => this.byId,
      (pending) => this.expire(pending),
    );
  }

  /** Changes with every request. */
  get latestId(): number {
    return this.byId.latestId;
  }

  add(
    request: LinkRequest,
    resolve: PendingRequest['resolve'],
    reject: PendingRequest['reject'],
  ): PendingRequest {
    const deadline = request.deadline ?? performance.now() + request.timeoutMs;
    const paramsMembers = request.paramsMembers ?? membersWithToken(request.params);
    const pending: PendingRequest = {
      id: this.byId.nextId(),
      request,
      resolve,
      reject,
      onAbort: () => this.abandon(pending, 'cancelled'),
      clientToken: progressTokenOf(request.params, paramsMembers),
      paramsMembers,
      deadline,
      maxDeadline: maxDeadlineAfter(deadline, request),
    };
    this.byId.add(pending);
    (request.caller ?? request).signal?.addEventListener('abort', pending.onAbort, { once: true });
    request.onSent?.(pending.id);
    this.deadlines.watch(pending.deadline);
    return pending;
  }

  /** Settles the request that the response belongs to. Returns false for a late, second or unknown response. */
  respond({ id, outcome, json }: Extract<Inbound, { kind: 'response' }>): boolean {
    this.abandoned.responded(id as number);
    const pending = this.byId.get(id);
    if (!pending || !this.end(pending)) return false;
    if (outcome === 'error' && isLongError(json)) this.events.limitReached('error-data');
    if (outcome === 'error') pending.reject(this.events.refused(remoteError(json)));
    else if (json.isObject) pending.resolve(json);
    else pending.reject(brokenError('the server sent an invalid response: a result must be an object'));
    return true;
  }

  /** The request could not be sent, or its response is invalid. */
  fail(id: unknown, error: Error): void {
    const pending = this.byId.get(id);
    if (pending && this.end(pending)) pending.reject(error);
  }

  failAll(error: Error): void {
    this.deadlines.stop();
    this.abandoned.stop();
    const all = [...this.byId];
    for (const { id } of all) this.fail(id, error);
  }

  /**
   * Extends the deadline. If the client sent a progress token, forwards the progress under that token. Returns false when
   * the token is of no request in flight.
   */
  receiveProgress(token: unknown, params: string): boolean {
    const pending = this.byId.get(token);
    if (!pending) return false;
    this.extendDeadline(pending);
    const { clientToken, request } = pending;
    if (clientToken !== undefined && request.caller)
      this.forwardProgress(pending.id, request.caller, progressWithToken(params, clientToken));
    return true;
  }

  /** The client has answered during these calls: restarts their timeouts, up to the maximum. */
  extendDeadlines(callers: ReadonlySet<Caller>): void {
    for (const pending of this.byId) {
      const { caller } = pending.request;
      if (!caller || !callers.has(caller)) continue;
      // The time that a call was parked does not count.
      if (caller.revision.era === '2026') restartDeadline(pending);
      else this.extendDeadline(pending);
    }
  }

  whenEmpty(): Promise<void> {
    return this.byId.size === 0 ? Promise.resolve() : this.emptyWaiters.wait();
  }

  /** `streamRequestId` is the request on whose response stream the message came; undefined on a shared stream. */
  origin(streamRequestId: RequestId | undefined): MessageOrigin {
    if (streamRequestId !== undefined) return originOf(this.byId.get(streamRequestId));
    const found: { readonly id: number; readonly caller: Caller }[] = [];
    let client: ClientKey | undefined;
    for (const { id, request } of this.byId) {
      const { caller } = request;
      if (!caller) continue;
      const key = clientKey(id, caller);
      client ??= key;
      if (client !== key) return AMBIGUOUS;
      found.push({ id, caller });
    }
    if (this.mayBeOfOtherThan(client, found[0]?.caller.quotaKey)) return AMBIGUOUS;
    // The id table is not ordered.
    const callers = found.toSorted((a, b) => a.id - b.id).map(({ caller }) => caller);
    return { callers, ambiguous: false };
  }

  /** Messages that are read from now on may have been sent since `time`: calls of that time may still be their origin. */
  expectMessagesSince(time: number): void {
    this.abandoned.renew(time);
    this.ended.renew(time);
  }

  /** Removes a request that the server does not execute any more. */
  private end(pending: PendingRequest): boolean {
    if (!this.remove(pending)) return false;
    const { caller } = pending.request;
    if (caller) this.ended.add(clientKey(pending.id, caller), caller.quotaKey);
    return true;
  }

  /** Removes the request and its abort listener. Returns false when the request was removed before. */
  private remove(pending: PendingRequest): boolean {
    if (!this.byId.delete(pending.id)) return false;
    const { caller, signal } = pending.request;
    (caller?.signal ?? signal)?.removeEventListener('abort', pending.onAbort);
    if (caller) this.events.removed(caller);
    if (this.byId.size === 0) this.emptyWaiters.release();
    return true;
  }

  private abandon(pending: PendingRequest, reason: AbandonReason): void {
    if (!this.remove(pending)) return;
    const { caller, signal, method, timeoutMs } = pending.request;
    if (caller && !this.abandoned.add(pending.id, clientKey(pending.id, caller), caller))
      this.events.limitReached('abandoned-requests');
    this.events.abandoned(pending, reason);
    pending.reject(
      reason === 'cancelled'
        ? cancelledError((caller?.signal ?? signal)?.reason)
        : timeoutError(this.server, method, timeoutMs),
    );
  }

  /**
   * Whether a message may belong to a call of another client that is no longer in flight. On one ordered stream, the messages
   * of a call come before its response, unless the server sends them late: then they must not reach another principal.
   */
  private mayBeOfOtherThan(client: ClientKey | undefined, principal: string | undefined): boolean {
    if (this.abandoned.hasOtherThan(client)) return true;
    return this.isOrdered
      ? this.ended.hasOtherPrincipalThan(principal)
      : this.ended.hasOtherClientThan(client);
  }

  private forwardProgress(id: number, caller: Caller, params: string): void {
    let progress = this.progress.get(caller);
    if (!progress) this.progress.set(caller, (progress = new RisingProgress()));
    const rising = progress.next(id, params);
    if (rising !== undefined) caller.notify('notifications/progress', new JsonText(rising));
  }

  private extendDeadline(pending: PendingRequest): void {
    pending.deadline = Math.min(performance.now() + pending.request.timeoutMs, pending.maxDeadline);
  }

  private expire(pending: PendingRequest): void {
    const { caller } = pending.request;
    const isExtendable = pending.deadline < pending.maxDeadline;
    if (caller?.isParked) restartDeadline(pending);
    else if (caller && isExtendable && this.events.isWaitingForClient(caller)) this.extendDeadline(pending);
    else this.abandon(pending, 'timeout');
  }
}

const maxDeadlineAfter = (deadline: number, { timeoutMs }: LinkRequest): number =>
  deadline + timeoutMs * (MAX_TIMEOUT_FACTOR - 1);

function restartDeadline(pending: PendingRequest): void {
  pending.deadline = performance.now() + pending.request.timeoutMs;
  pending.maxDeadline = maxDeadlineAfter(pending.deadline, pending.request);
}

const clientKey = (id: number, { session }: Caller): ClientKey => session?.id ?? id;

function originOf(pending: PendingRequest | undefined): MessageOrigin {
  // The request is not pending any more, and its caller is not stored.
  if (!pending) return AMBIGUOUS;
  const { caller } = pending.request;
  return caller ? { callers: [caller], ambiguous: false } : NO_CALL;
}
