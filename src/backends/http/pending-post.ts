import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { JsonProblem, JsonReader, type ReadJson } from '../../lib/json-text/json-reader.js';
import { MAX_EAGER_LENGTH } from '../../lib/json-text/json-text.js';
import { PacedInput } from '../../lib/slices/paced-input.js';
import { SERVER_JSON_LIMITS } from '../../mcp/json-limits.js';
import { isMessage, isResponseTo } from '../../mcp/json-rpc.js';
import { brokenError } from '../link/link-errors.js';
import { TransportError } from '../link/transport.js';
import type { GetClient } from './get-stream.js';
import type { HttpConnection, PostRequest } from './post-client/http-connection.js';
import { isEncoded, mediaTypeOf, type ResponseHead } from './post-client/response-head.js';
import { LARGE_RESPONSE_BYTES, type LargeResponses } from './large-responses.js';
import { SseResponse } from './sse-response.js';
import { cannotConnect, connectionLost, httpError, sessionExpired, tooLarge } from './transport-errors.js';

/** How long a server may take to end an event stream after it has sent the response. */
const STREAM_END_TIMEOUT_MS = 1000;
/** Maximum size of the body of an HTTP error. */
const MAX_ERROR_BODY_BYTES = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);
/** A body that is not needed is read up to this size, so that its connection can be reused. */
const MAX_DISCARDED_BYTES = 64 * 1024;

/** The part of the transport that a POST uses. */
export interface PostOwner extends GetClient {
  /** Maximum pause in a body that is not an event stream. */
  readonly bodyIdleMs: number;
  /** How long the server may take to accept a notification or response of the gateway. */
  readonly acceptTimeoutMs: number;
  readonly sessionId: string | undefined;
  /** Whether the HTTP response only accepts a request, and the JSON-RPC response comes on another stream. */
  readonly respondsOnStream?: boolean;
  /** See `PostRequest.head`. */
  readonly postHead: string;
  /** Called with the head of every successful response to a request. */
  saveSessionId(head: ResponseHead): void;
  /** Called when the server responds with HTTP 404 to a request within a session. */
  markSessionExpired(): void;
  readonly largeResponses: LargeResponses;
  /** Reads bodies that arrive in one piece. */
  readonly jsonReader: JsonReader;
  /**
   * Delivers the message, or all messages of a batch; true when the response to `requestId` is among them. Throws when a
   * message cannot be read.
   */
  deliver(message: ReadJson, requestId: RequestId | undefined): boolean;
  watchDeadline(deadline: number): void;
  /** Called when the POST has ended. Closes its connection if the response is incomplete. */
  finished(post: PendingPost): void;
}

/** How the body of the response is read. `discard`: the body is not needed, because the head decided the outcome. */
type BodyKind = 'json' | 'events' | 'error' | 'discard';

/** The POST of one message and its HTTP response. */
export class PendingPost implements PostRequest {
  readonly head: string;
  connection: HttpConnection | undefined;
  /** A time of `performance.now()`. Infinite while a request waits for its response: the link has a timeout for that. */
  deadline = Infinity;
  private isSettled = false;
  private isOver = false;
  private bodyKind: BodyKind | undefined;
  private contentLength: ResponseHead['bodyLength'] = 0;
  /** A short JSON body that arrived in one piece. */
  private document: ReadJson | undefined;
  /** Collects any other JSON body. */
  private reader: JsonReader | undefined;
  /** Passes the pieces of that body to `reader`, within the budget of the event loop. */
  private input: PacedInput | undefined;
  private discardedBytes = 0;
  /** Whether `largeResponses` counts this response, as being read or as waiting. */
  private isLarge = false;
  /** Whether the connection is paused because too many large responses are being read. */
  private isWaiting = false;
  /** Reads a body that is an event stream. */
  private events: SseResponse | undefined;
  /** The error with which the POST fails if the body of an HTTP error does not contain the JSON-RPC response. */
  private httpError: TransportError | undefined;
  private readonly hadSession: boolean;

  constructor(
    private readonly owner: PostOwner,
    /** Unique among the pending posts of the transport. */
    readonly id: number,
    readonly body: string,
    readonly requestId: RequestId | undefined,
    /** Lines of further headers. */
    headers: string | undefined,
    /**
     * Called once: with an error, or without one when the server has accepted a notification or a response. For a request,
     * called when the JSON-RPC response was delivered or, if that comes on another stream, when the server has accepted the
     * request.
     */
    private readonly onSettled: (error?: TransportError) => void,
  ) {
    this.head = headers === undefined ? owner.postHead : owner.postHead + headers;
    this.hadSession = owner.sessionId !== undefined;
    if (requestId === undefined) this.setDeadline(owner.acceptTimeoutMs);
  }

  succeed(): void {
    this.settle();
    this.finish();
  }

  fail(error: TransportError): void {
    this.settle(error);
    this.finish();
  }

  /** See `SseRequest`. */
  awaitStreamEnd(): void {
    this.settle();
    this.setDeadline(STREAM_END_TIMEOUT_MS);
  }

  deliver(message: ReadJson): boolean {
    if (this.isOver) return false;
    try {
      return this.owner.deliver(message, this.requestId);
    } catch (error) {
      this.fail(
        error instanceof TransportError
          ? error
          : brokenError('the response cannot be read', { cause: error }),
      );
      return false;
    }
  }

  /** Called when the deadline has passed. */
  expire(): void {
    this.endedEarly(
      brokenError(`the server stopped ${this.bodyKind ? 'within its response' : 'before its response'}`),
    );
  }

  onHead(head: ResponseHead): void {
    if (this.isOver) return;
    this.deadline = Infinity;
    if (head.status >= 300) this.readErrorHead(head);
    else if (this.requestId === undefined || this.owner.respondsOnStream) this.discard(head);
    else this.readResponseHead(head);
    if (this.bodyKind !== 'events' && !this.isOver) this.setDeadline(this.owner.bodyIdleMs);
  }

  onBody(bytes: Buffer): void {
    if (this.isOver) return;
    if (this.bodyKind === 'events') {
      const startedAt = performance.now();
      this.events?.push(Buffer.from(bytes));
      const pauseMs = this.owner.inbound?.pauseAfter(performance.now() - startedAt) ?? 0;
      if (pauseMs > 0) this.connection?.pauseFor(pauseMs);
      this.limitSize(this.events?.heldBytes ?? 0);
      return;
    }
    if (
      bytes.length === this.contentLength &&
      bytes.length <= MAX_EAGER_LENGTH &&
      this.bodyKind !== 'discard'
    ) {
      this.document = this.owner.jsonReader.read(bytes);
      return;
    }
    this.deadline = performance.now() + this.owner.bodyIdleMs;
    if (this.bodyKind === 'discard') {
      this.discardedBytes += bytes.length;
      // The outcome was reported by `discard`, so this ends only the exchange.
      if (this.discardedBytes > MAX_DISCARDED_BYTES) this.succeed();
    } else {
      this.collect(Buffer.from(bytes));
      this.limitSize(this.reader?.length ?? 0);
    }
  }

  /** Called by `LargeResponses` when the paused response may be read again. */
  admitted(): void {
    this.isWaiting = false;
    if (this.bodyKind !== 'events') this.setDeadline(this.owner.bodyIdleMs);
    this.connection!.resume();
  }

  onEnd(): void {
    if (this.input) this.input.whenIdle(() => this.end());
    else this.end();
  }

  private end(): void {
    if (this.isOver) return;
    if (this.bodyKind === 'events') this.events?.end();
    else if (this.bodyKind === 'discard') this.succeed();
    else this.readBody(this.document ?? this.reader?.take() ?? this.owner.jsonReader.read(NO_BYTES));
  }

  onFailure(cause: Error): void {
    if (!this.isOver) this.endedEarly(this.connection ? connectionLost(cause) : cannotConnect(cause));
  }

  /** To be called when the HTTP exchange ended before the end of the response. */
  private endedEarly(why: TransportError): void {
    if (this.bodyKind === 'events') this.events?.bodyEnded(why);
    else if (this.bodyKind === 'discard') this.succeed();
    else this.fail(this.httpError ?? why);
  }

  /** Pauses the connection while too many large responses are being read. `heldBytes` are in memory for this response. */
  private limitSize(heldBytes: number): void {
    if (this.isOver || this.isWaiting) return;
    if (heldBytes < LARGE_RESPONSE_BYTES) {
      if (this.isLarge) this.owner.largeResponses.release(this);
      this.isLarge = false;
      return;
    }
    this.isLarge = true;
    if (!this.owner.largeResponses.admit(this)) {
      this.isWaiting = true;
      // During this pause the server cannot send, so `bodyIdleMs` does not apply. The timeout of the request still runs.
      this.deadline = Infinity;
      this.connection!.pause();
    }
  }

  private readResponseHead(head: ResponseHead): void {
    const { owner } = this;
    const { status, headers, bodyLength } = head;
    owner.saveSessionId(head);
    const type = mediaTypeOf(headers);
    if (isEncoded(headers))
      this.discard(head, brokenError('the server compressed its response although the request forbids it'));
    else if (type === 'text/event-stream') {
      this.bodyKind = 'events';
      this.events = new SseResponse(this, owner);
    } else if (type !== 'application/json')
      this.discard(head, brokenError(`the server sent HTTP ${status} with ${type || 'no content type'}`));
    else if (typeof bodyLength === 'number' && bodyLength > owner.maxMessageBytes)
      this.fail(tooLarge(owner.maxMessageBytes));
    else {
      this.bodyKind = 'json';
      this.contentLength = bodyLength;
    }
  }

  private readErrorHead(head: ResponseHead): void {
    const { status, headers } = head;
    if (status === 404 && this.hadSession) {
      this.owner.markSessionExpired();
      this.discard(head, sessionExpired());
      return;
    }
    const error = httpError(status, headers);
    // Many servers send a JSON-RPC error in the body of an HTTP error.
    if (this.requestId === undefined || mediaTypeOf(headers) !== 'application/json' || isEncoded(headers)) {
      this.discard(head, error);
      return;
    }
    this.httpError = error;
    this.bodyKind = 'error';
  }

  private collect(chunk: Buffer): void {
    const { maxMessageBytes } = this.owner;
    const maxBytes = this.httpError ? Math.min(MAX_ERROR_BODY_BYTES, maxMessageBytes) : maxMessageBytes;
    this.reader ??= new JsonReader({
      ...SERVER_JSON_LIMITS,
      maxBytes,
      expectedBytes: typeof this.contentLength === 'number' ? this.contentLength : 0,
    });
    const { reader } = this;
    this.input ??= new PacedInput(this.connection!, (piece) => {
      if (!this.isOver && !reader.append(piece)) this.fail(this.httpError ?? tooLarge(maxMessageBytes));
    });
    this.input.push(chunk);
  }

  /** Settles the POST and discards the body. An event stream may never end, so its connection is closed. */
  private discard({ headers }: ResponseHead, error?: TransportError): void {
    this.settle(error);
    this.bodyKind = 'discard';
    if (mediaTypeOf(headers) === 'text/event-stream') this.finish();
  }

  private readBody(body: ReadJson): void {
    const { httpError: error } = this;
    if (error && !isErrorResponse(body, this.requestId)) this.fail(error);
    else if (this.deliver(body)) this.succeed();
    else this.fail(error ?? brokenError('the HTTP response does not contain the JSON-RPC response'));
  }

  private settle(error?: TransportError): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.onSettled(error);
  }

  private setDeadline(ms: number): void {
    this.deadline = performance.now() + ms;
    this.owner.watchDeadline(this.deadline);
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.isLarge) this.owner.largeResponses.release(this);
    if (this.isWaiting) this.connection?.resume();
    this.events?.stop();
    this.owner.finished(this);
  }
}

function isErrorResponse(body: ReadJson, requestId: RequestId | undefined): boolean {
  if (body instanceof JsonProblem) return false;
  const { value } = body;
  return isMessage(value) && 'error' in value && isResponseTo(value, requestId);
}
