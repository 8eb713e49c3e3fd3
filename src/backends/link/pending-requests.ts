import { randomInt } from 'node:crypto';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { MemoryLimit } from '../../core/memory-limits.js';
import type { CancelSignal } from '../../lib/cancellation/cancellation.js';
import { Deadlines } from '../../lib/deadlines/deadlines.js';
import { IdTable } from '../../lib/id-table/id-table.js';
import { JsonText, type Member } from '../../lib/json-text/json-text.js';
import { Waiters } from '../../lib/listeners/waiters.js';
import type { Inbound } from '../../mcp/json-rpc.js';
import type { Caller } from '../../mcp/mcp-context.js';
import { membersWithToken, progressTokenOf, progressWithToken } from '../../mcp/params.js';
import { AbandonedRequests } from './abandoned-requests.js';
import { EndedCalls } from './ended-calls.js';
import { brokenError, cancelledError, isLongError, remoteError, timeoutError } from './link-errors.js';
import type { LinkRequest } from './link.js';
import { clientKey, MessageOrigins, type MessageOrigin } from './message-origins.js';
import type { Ping } from './response-fence.js';
import { RisingProgress } from './rising-progress.js';

/** Progress, and requests of the server to the client, extend the deadline of a request up to this multiple of its timeout. */
const MAX_TIMEOUT_FACTOR = 10;

/** A request that was sent and not answered yet. */
export interface PendingRequest {
  /** Unique on the link. Also sent to the server as the progress token. */
  readonly id: number;
  readonly request: LinkRequest;
  /** The progress token of the client's request, as the client wrote it. */
  readonly clientToken: string | undefined;
  /** The members of the params, if they are known. */
  readonly paramsMembers: readonly Member[] | undefined;
  readonly resolve: (result: JsonText) => void;
  readonly reject: (error: Error) => void;
  readonly onAbort: () => void;
  /** Times of `performance.now()`. `deadline` can be extended up to `maxDeadline`. */
  maxDeadline: number;
  deadline: number;
}

/** Why the gateway does not wait for the response to a request any more. */
export type AbandonReason = 'cancelled' | 'timeout';

interface PendingRequestHost {
  /** A request was cancelled by its caller or timed out. Called before its promise is rejected. */
  abandoned(pending: PendingRequest, reason: AbandonReason): void;
  /** A request of this caller is no longer pending. */
  removed(caller: Caller): void;
  /** A memory limit is reached. */
  limitReached(limit: MemoryLimit): void;
  /** Whether the server waits for a response of the client during this call. Meanwhile the deadline of the call is extended. */
  isWaitingForClient(caller: Caller): boolean;
  /** The server answered with an error. Returns the error with which the promise is rejected. */
  errorOfRefusal(error: Error): Error;
}

/** The pending requests of one link: matches responses, enforces deadlines, and finds the client of a server message. */
export class PendingRequests {
  /**
   * The first id is random, so that a client cannot guess the id of another client's call, which is also its progress token
   * at the server. Ids start below 2^30, because V8 formats small integers several times faster.
   */
  private readonly byId = new IdTable<PendingRequest>(randomInt(2 ** 30));
  /** Requests that the server may still execute. The messages that they cause must not reach another client. */
  private readonly abandoned: AbandonedRequests;
  /** By caller: the progress that the link has forwarded. The link may send several requests for one caller. */
  private readonly progress = new WeakMap<Caller, RisingProgress>();
  private readonly deadlines: Deadlines<PendingRequest>;
  private readonly emptyWaiters = new Waiters();
  private readonly origins: MessageOrigins<PendingRequest>;

  constructor(
    private readonly server: string,
    private readonly host: PendingRequestHost,
    /** Whether all messages arrive on one stream. The messages of a call then usually arrive before the response to it. */
    isOrdered = false,
    /** Calls that have just ended. Their messages may still arrive, and must not reach another client. */
    ended = new EndedCalls(),
  ) {
    this.abandoned = new AbandonedRequests(ended);
    this.origins = new MessageOrigins(this.byId, this.abandoned, ended, isOrdered);
    this.deadlines = new Deadlines(
      () => this.byId,
      (pending) => this.expire(pending),
    );
  }

  /** The id of the latest request. */
  get latestId(): number {
    return this.byId.latestId;
  }

  /** See `MessageOrigins.fenceResponses`. */
  fenceResponses(ping: Ping): void {
    this.origins.fenceResponses(ping);
  }

  /** See `MessageOrigins.requestBegins`. */
  requestBegins(request: LinkRequest): Promise<void> | undefined {
    return this.origins.requestBegins(request, this.byId.latestId + 1);
  }

  /** Assigns an id to a request, which must be sent after that. Throws when its progress token is too long. */
  add(
    request: LinkRequest,
    resolve: PendingRequest['resolve'],
    reject: PendingRequest['reject'],
  ): PendingRequest {
    const deadline = request.deadline ?? performance.now() + request.timeoutMs;
    const lacksToken = request.caller?.lacksProgressToken === true;
    const paramsMembers =
      request.paramsMembers ?? (lacksToken ? undefined : membersWithToken(request.params));
    const pending: PendingRequest = {
      id: this.byId.nextId(),
      request,
      resolve,
      reject,
      onAbort: () => this.abandon(pending, 'cancelled'),
      clientToken: lacksToken ? undefined : progressTokenOf(request.params, paramsMembers),
      paramsMembers,
      deadline,
      maxDeadline: maxDeadlineAfter(deadline, request),
    };
    this.byId.add(pending);
    signalOf(request)?.addEventListener('abort', pending.onAbort, { once: true });
    request.onIdAssigned?.(pending.id);
    this.deadlines.watch(pending.deadline);
    return pending;
  }

  /** Settles the request that the response belongs to. Returns false for a late, second or unknown response. */
  respond({ id, outcome, json }: Extract<Inbound, { kind: 'response' }>): boolean {
    const abandoned = this.abandoned.responded(id as number);
    if (abandoned) this.origins.callEnded(abandoned.key, abandoned.quotaKey);
    const pending = this.byId.get(id);
    if (!pending || !this.end(pending)) return false;
    if (outcome === 'error' && isLongError(json)) this.host.limitReached('error-data');
    if (outcome === 'error') pending.reject(this.host.errorOfRefusal(remoteError(json)));
    else if (json.isObject) pending.resolve(json);
    else pending.reject(brokenError('the server sent an invalid response: a result must be an object'));
    return true;
  }

  /** To be called when the request could not be sent, or its response is invalid. Rejects the request. */
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
   * Receives progress of the request with this token: extends its deadline and, if the client has sent a progress token,
   * forwards the progress under that token. Returns false when no pending request has this token.
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

  /** To be called when the client has answered a question of the server during these calls. Their timeouts begin anew. */
  extendDeadlines(callers: ReadonlySet<Caller>): void {
    for (const pending of this.byId) {
      const { caller } = pending.request;
      if (!caller || !callers.has(caller)) continue;
      // The maximum begins anew too, because a call of a client of 2026 may have waited for the client longer than that.
      if (caller.revision.era === '2026') restartDeadline(pending);
      else this.extendDeadline(pending);
    }
  }

  whenEmpty(): Promise<void> {
    return this.byId.size === 0 ? Promise.resolve() : this.emptyWaiters.wait();
  }

  /**
   * The calls to which a message of the server may belong. `streamRequestId` is the request on whose response stream the message
   * came; undefined if the stream is not the response of one request.
   */
  origin(streamRequestId: RequestId | undefined): MessageOrigin {
    return streamRequestId === undefined ? this.origins.ofShared() : this.origins.ofStream(streamRequestId);
  }

  /** See `MessageOrigins.receivedOutsideCalls`. */
  receivedOutsideCalls(mayBeOfCall: boolean): boolean {
    return this.origins.receivedOutsideCalls(mayBeOfCall);
  }

  /**
   * To be called when the gateway reads a stream again after a pause. The server may have sent the messages that are read now
   * since `time`, so calls that have ended since then can be their origin.
   */
  expectMessagesSince(time: number): void {
    this.origins.renew(time);
  }

  /** Removes a request that the server does not execute any more. Returns false when the request was removed before. */
  private end(pending: PendingRequest): boolean {
    if (!this.remove(pending)) return false;
    const { caller } = pending.request;
    if (caller) this.origins.callEnded(clientKey(pending.id, caller), caller.quotaKey);
    return true;
  }

  /** Removes the request and its abort listener. Returns false when the request was removed before. */
  private remove(pending: PendingRequest): boolean {
    if (!this.byId.delete(pending.id)) return false;
    const { caller } = pending.request;
    signalOf(pending.request)?.removeEventListener('abort', pending.onAbort);
    if (caller) this.host.removed(caller);
    if (this.byId.size === 0) this.emptyWaiters.release();
    return true;
  }

  /** Rejects a request that the server may still execute. */
  private abandon(pending: PendingRequest, reason: AbandonReason): void {
    if (!this.remove(pending)) return;
    const { caller, method, timeoutMs } = pending.request;
    if (caller && !this.abandoned.add(pending.id, clientKey(pending.id, caller), caller))
      this.host.limitReached('abandoned-requests');
    this.host.abandoned(pending, reason);
    pending.reject(
      reason === 'cancelled'
        ? cancelledError(signalOf(pending.request)?.reason)
        : timeoutError(this.server, method, timeoutMs),
    );
  }

  private forwardProgress(id: number, caller: Caller, params: string): void {
    const progress = this.progress.get(caller) ?? new RisingProgress();
    this.progress.set(caller, progress);
    const risingParams = progress.next(id, params);
    if (risingParams !== undefined) caller.notify('notifications/progress', new JsonText(risingParams));
  }

  private extendDeadline(pending: PendingRequest): void {
    pending.deadline = Math.min(performance.now() + pending.request.timeoutMs, pending.maxDeadline);
  }

  private expire(pending: PendingRequest): void {
    const { caller } = pending.request;
    // After `maxDeadline`, an extended deadline would be a time in the past, which is never watched again.
    const isExtendable = performance.now() < pending.maxDeadline;
    if (caller?.isParked) restartDeadline(pending);
    else if (caller && isExtendable && this.host.isWaitingForClient(caller)) this.extendDeadline(pending);
    else this.abandon(pending, 'timeout');
  }
}

const signalOf = ({ caller, signal }: LinkRequest): CancelSignal | undefined => caller?.signal ?? signal;

const maxDeadlineAfter = (deadline: number, { timeoutMs }: LinkRequest): number =>
  deadline + timeoutMs * (MAX_TIMEOUT_FACTOR - 1);

function restartDeadline(pending: PendingRequest): void {
  pending.deadline = performance.now() + pending.request.timeoutMs;
  pending.maxDeadline = maxDeadlineAfter(pending.deadline, pending.request);
}
