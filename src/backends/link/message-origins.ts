import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from '../../mcp/mcp-context.js';
import type { AbandonedRequests } from './abandoned-requests.js';
import type { ClientKey, EndedCalls } from './ended-calls.js';
import type { LinkRequest } from './link.js';
import { ResponseFence, type Ping } from './response-fence.js';

/** The calls that a message of the server may belong to. */
export interface MessageOrigin {
  /** The senders of these calls. All are of one client, in the order in which the calls were sent. */
  readonly callers: readonly Caller[];
  /** Whether the message may belong to one of several clients, or to a call that has ended. `callers` is empty then. */
  readonly isAmbiguous: boolean;
  /** Whether the message came on a stream for everything while no request was in flight, and none was abandoned. */
  readonly isOutsideCalls: boolean;
}

const NO_CALL: MessageOrigin = { callers: [], isAmbiguous: false, isOutsideCalls: false };
const AMBIGUOUS: MessageOrigin = { callers: [], isAmbiguous: true, isOutsideCalls: false };

interface RequestInFlight {
  readonly id: number;
  readonly request: LinkRequest;
}

interface RequestsInFlight<T> extends Iterable<T> {
  get(id: unknown): T | undefined;
}

export const clientKey = (id: number, { session }: Caller): ClientKey => session?.id ?? id;

/** Finds the calls that caused a message of the server, on one link. */
export class MessageOrigins<T extends RequestInFlight> {
  private fence: ResponseFence | undefined;

  constructor(
    private readonly inFlight: RequestsInFlight<T>,
    private readonly abandoned: AbandonedRequests,
    private readonly ended: EndedCalls,
    /** Whether all messages arrive on one stream. */
    private readonly isOrdered: boolean,
  ) {}

  /**
   * From now on, on a link with `isOrdered`, an ended call counts until the server has responded to a ping that was sent after
   * its end. For links that clients share.
   */
  fenceResponses(ping: Ping): void {
    if (!this.isOrdered) return;
    const hasOtherInFlight = (client: ClientKey, principal: string): boolean =>
      this.hasOtherInFlight(client, principal);
    this.fence = new ResponseFence({ ping, hasOtherInFlight }, this.ended);
  }

  /**
   * To be called before a request is sent, which should be sent when the returned promise has resolved (see
   * `ResponseFence.callBegins`). `nextId` is greater than the id of any earlier request.
   */
  requestBegins({ caller, runsAlone }: LinkRequest, nextId: number): Promise<void> | undefined {
    if (!this.fence || !caller || runsAlone) return undefined;
    return this.fence.callBegins(clientKey(nextId, caller), caller.quotaKey);
  }

  callEnded(client: ClientKey, principal: string): void {
    this.ended.add(client, principal);
    this.fence?.callEnded(client, principal);
  }

  /** See `EndedCalls.renew`. */
  renew(time: number): void {
    this.abandoned.renew(time);
    this.ended.renew(time);
    this.fence?.renew(time);
  }

  /** The origin of a message on the response stream of a request. */
  ofStream(requestId: RequestId): MessageOrigin {
    const pending = this.inFlight.get(requestId);
    if (!pending) return AMBIGUOUS;
    const { caller } = pending.request;
    return caller ? { callers: [caller], isAmbiguous: false, isOutsideCalls: false } : NO_CALL;
  }

  /** The origin of a message on a stream that is not the response of one request. */
  ofShared(): MessageOrigin {
    const calls: { readonly id: number; readonly caller: Caller }[] = [];
    let client: ClientKey | undefined;
    let isIdle = true;
    let isAlone = false;
    for (const { id, request } of this.inFlight) {
      const { caller, timeoutMs, runsAlone = false } = request;
      // A request without a timeout is a listen stream.
      if (timeoutMs !== Infinity) isIdle = false;
      if (!caller) continue;
      const key = clientKey(id, caller);
      client ??= key;
      if (client !== key) return AMBIGUOUS;
      calls.push({ id, caller });
      isAlone = runsAlone;
    }
    if (this.abandoned.hasOtherThan(client)) return AMBIGUOUS;
    const isAmbiguous = this.mayBelongToEndedCall(client, calls[0]?.caller.quotaKey, isAlone);
    // The id table is not ordered.
    const callers = isAmbiguous ? [] : calls.toSorted((a, b) => a.id - b.id).map(({ caller }) => caller);
    return { callers, isAmbiguous, isOutsideCalls: isIdle && this.isOrdered };
  }

  /**
   * To be called with each log message, and each request to a client, that came outside of calls. Returns true for the first one
   * that shows that the server sends messages of a call after its response.
   */
  receivedOutsideCalls(mayBeOfCall: boolean): boolean {
    return this.ended.late.received(mayBeOfCall);
  }

  /**
   * Whether a message may belong to an ended call of another client. With `isOrdered`, an ended call of the same principal
   * counts only until a ping shows that its messages have been read, or if the server sends messages after its responses. If it
   * always counted, every message during calls of alternating clients would be dropped. During a call that runs alone it counts
   * only in the second case: the first messages of such a call often come before the response to a ping.
   */
  private mayBelongToEndedCall(
    client: ClientKey | undefined,
    quotaKey: string | undefined,
    isAlone: boolean,
  ): boolean {
    const { ended, fence } = this;
    if (!this.isOrdered || ended.late.areExpected) return ended.hasOtherClientThan(client);
    if (ended.hasOtherPrincipalThan(quotaKey)) return true;
    return !isAlone && fence !== undefined && fence.hasOtherThan(client);
  }

  private hasOtherInFlight(client: ClientKey, principal: string): boolean {
    for (const { id, request } of this.inFlight) {
      const { caller } = request;
      if (caller && caller.quotaKey === principal && clientKey(id, caller) !== client) return true;
    }
    return false;
  }
}
