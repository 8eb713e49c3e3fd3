import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { codesFor, GatewayError, RemoteError, unknownMethod } from '../../core/errors.js';
import { MemoryLimitError, type MemoryLimit } from '../../core/memory-limits.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { runSliced } from '../../lib/slices/run-sliced.js';
import { sliceScheduler } from '../../lib/slices/slices.js';
import { errorMessage, notificationMessage, resultMessage } from '../../mcp/json-rpc.js';
import type { Caller, Channel } from '../../mcp/mcp-context.js';
import { progressTokenOf, progressTokenSteps, progressWithToken } from '../../mcp/params.js';

/** Methods of the requests that a server may send to the client whose call it is executing. */
export const FORWARDED_METHODS: ReadonlySet<string> = new Set([
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
]);

/** Maximum requests of one server that wait for clients. */
export const MAX_OPEN_REQUESTS_PER_LINK = 512;
/** Maximum bytes of the params of these requests together. A request that waits alone may have more. */
export const MAX_OPEN_BYTES_PER_LINK = 33_554_432;

/** A request of a server. */
interface ServerRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonText | undefined;
  /** The client that the request is for; undefined when that client is not known. */
  readonly channel: Channel | undefined;
  /** The calls of the client that may have caused the request. */
  readonly callers: readonly Caller[];
  /**
   * Whether the request is cancelled when all of its `callers` have ended. On the link of one owner, a request outside of a
   * response stream may belong to no call; it is cancelled when the link ends.
   */
  readonly isOfCall: boolean;
}

interface ForwardedRequest {
  readonly abort: AbortController;
  /** The calls that may still need the response. */
  readonly callers: Set<Caller>;
  readonly isOfCall: boolean;
}

/** Forwards each request of a server to the one client that it is for, and the response of the client to the server. */
export class ServerRequests {
  /** By id: the requests that wait for the response of a client. */
  private readonly open = new Map<RequestId, ForwardedRequest>();
  /** Number of requests that are being forwarded. Cancelled requests count until the client's `sendRequest` has settled. */
  private forwarding = 0;
  /** Bytes of the params of these requests. */
  private forwardingBytes = 0;
  /** Whether the server may send requests. In revision 2026-07-28 it may not, and could not get a response over HTTP. */
  isAllowed = true;

  constructor(
    private readonly send: (text: string) => void,
    /** Called when the client has responded, with the calls that the server now continues. */
    private readonly onResponse: (callers: ReadonlySet<Caller>) => void,
    /** Rewrites own URIs in params to public URIs. */
    private readonly toPublicParams: (params: JsonText) => JsonText | Promise<JsonText> = (params) => params,
    private readonly onMemoryLimit: (limit: MemoryLimit) => void = () => {},
    /** Called when a request is refused because its client is not known, or dropped because it is not allowed. */
    private readonly onUnattributed: () => void = () => {},
  ) {}

  /** Forwards a request of the server, answers it, or refuses it. */
  receive(request: ServerRequest): void {
    const { id, method, channel } = request;
    if (!this.isAllowed) {
      this.onUnattributed();
      return;
    }
    if (method === 'ping') {
      this.send(resultMessage(id, {}));
      return;
    }
    if (!FORWARDED_METHODS.has(method)) {
      this.reject(id, unknownMethod(method));
      return;
    }
    if (!channel) {
      this.onUnattributed();
      const message = `${method}: the gateway cannot determine which client this is for (see isolation in the configuration)`;
      this.reject(id, new GatewayError('internal', message));
      return;
    }
    if (this.isFullFor(request)) this.reject(id, tooManyError());
    else void this.forward(request, channel);
  }

  reject(id: RequestId, error: unknown): void {
    this.send(this.errorResponse(id, error));
  }

  /** Cancels a request at the client. The server gets no response. */
  cancel(id: RequestId): void {
    const forwarded = this.open.get(id);
    this.open.delete(id);
    forwarded?.abort.abort();
  }

  /** Whether a request that this call may have caused waits for the client. */
  hasOpenFor(caller: Caller): boolean {
    for (const { callers } of this.open.values()) if (callers.has(caller)) return true;
    return false;
  }

  /** To be called when a call has ended. Cancels the open requests that no other call can have caused. */
  callerFinished(caller: Caller): void {
    if (this.open.size === 0) return;
    for (const { callers, isOfCall, abort } of this.open.values())
      if (callers.delete(caller) && callers.size === 0 && isOfCall) abort.abort();
  }

  cancelAll(): void {
    for (const id of this.open.keys()) this.cancel(id);
  }

  private isFullFor({ params }: ServerRequest): boolean {
    const { forwarding, forwardingBytes } = this;
    return (
      forwarding >= MAX_OPEN_REQUESTS_PER_LINK ||
      (forwarding > 0 && forwardingBytes + sizeOf(params) > MAX_OPEN_BYTES_PER_LINK)
    );
  }

  private async forward(request: ServerRequest, channel: Channel): Promise<void> {
    const { id, callers, isOfCall, params } = request;
    const forwarded: ForwardedRequest = { abort: new AbortController(), callers: new Set(callers), isOfCall };
    // A server that uses an id again has given up the earlier request.
    this.cancel(id);
    this.open.set(id, forwarded);
    this.forwarding++;
    this.forwardingBytes += sizeOf(params);
    const response = await this.responseOf(channel, request, forwarded.abort.signal);
    this.forwarding--;
    this.forwardingBytes -= sizeOf(params);
    if (this.open.get(id) !== forwarded) return;
    this.open.delete(id);
    this.onResponse(forwarded.callers);
    this.send(response);
  }

  /** The text of the response to the server. Never rejects. */
  private async responseOf(
    channel: Channel,
    { id, method, params }: ServerRequest,
    signal: AbortSignal,
  ): Promise<string> {
    try {
      const token = params?.isLongObject
        ? await runSliced(progressTokenSteps(params), sliceScheduler.start())
        : progressTokenOf(params?.text);
      const rewritten = params && this.toPublicParams(params);
      // Awaited only if it is a promise, so that the request is sent before the messages of the server that follow it.
      const publicParams = rewritten instanceof Promise ? await rewritten : rewritten;
      const result = await channel.sendRequest(method, publicParams, {
        signal,
        ...(token && { onProgress: (progress: JsonText) => this.sendProgress(progress, token) }),
      });
      return resultMessage(id, result);
    } catch (error) {
      return this.errorResponse(id, error);
    }
  }

  private errorResponse(id: RequestId, error: unknown): string {
    if (error instanceof MemoryLimitError) this.onMemoryLimit(error.memoryLimit);
    return errorMessage(id, errorText(error));
  }

  private sendProgress(params: JsonText, token: string): void {
    this.send(notificationMessage('notifications/progress', progressWithToken(params.text, token)));
  }
}

const sizeOf = (params: JsonText | undefined): number => params?.storedLength ?? 0;

const tooManyError = (): MemoryLimitError =>
  new MemoryLimitError(
    'link-requests',
    MAX_OPEN_REQUESTS_PER_LINK,
    `up to ${MAX_OPEN_REQUESTS_PER_LINK} requests with ${MAX_OPEN_BYTES_PER_LINK} bytes may wait for clients`,
  );

/** The JSON text of the error in a response to the server. */
function errorText(error: unknown): string {
  if (error instanceof RemoteError) return error.text;
  const isOwnError = error instanceof GatewayError;
  const { code } = codesFor(isOwnError ? error.kind : 'internal', '2025');
  return JSON.stringify({ code, message: isOwnError ? error.message : 'Internal error' });
}
