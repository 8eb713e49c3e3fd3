import { buildConnector, Pool, type Dispatcher } from 'undici';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { Deadlines } from '../../lib/deadlines/deadlines.js';
import { IdTable } from '../../lib/id-table/id-table.js';
import { MAX_ARRAY_BYTES, MAX_ELEMENTS, type JsonDocument } from '../../lib/json-text/json-document.js';
import { isJsonObject } from '../../lib/json-text/json-value.js';
import { JsonProblem, JsonReader, type ReadJson } from '../../lib/json-text/json-reader.js';
import { SERVER_JSON_LIMITS } from '../../mcp/json-limits.js';
import { isMessage, isResponseTo } from '../../mcp/json-rpc.js';
import { brokenError, isOverLimit, unreadableMessage } from '../link/link-errors.js';
import type {
  InboundGate,
  LinkTransport,
  MessageExtra,
  StreamState,
  TransportError,
} from '../link/transport.js';
import { LargeResponses } from './large-responses.js';
import type { Egress, ForwardProxy } from './egress.js';
import { PendingPost, type PostOwner } from './pending-post.js';
import { PostClient } from './post-client/post-client.js';
import type { ResponseHead } from './post-client/response-head.js';
import { RequestHeaders } from './request-headers.js';
import { transportClosed } from './transport-errors.js';

export interface HttpServer {
  readonly url: string | URL;
  /** Sent with every request, except reserved headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface HttpTransportOptions {
  /** Maximum size of one message: a JSON body or one event. */
  readonly maxMessageBytes?: number | undefined;
  readonly connectTimeoutMs?: number | undefined;
  /** Maximum pause in a body that is not an event stream. */
  readonly bodyIdleMs?: number | undefined;
  /** How long the server may take to accept a notification or response of the gateway. */
  readonly acceptTimeoutMs?: number | undefined;
  /**
   * Maximum number of connections for POST; the number may change. It must exceed the maximum of requests in flight, because
   * other messages need connections too.
   */
  readonly connections?: (() => number) | undefined;
  /** How connections to the server are opened. */
  readonly egress?: Egress | undefined;
}

const DEFAULT_CONNECTIONS = 128;
const TOO_LONG_BATCH = `the server sent a batch of more than ${MAX_ELEMENTS} messages or ${MAX_ARRAY_BYTES} bytes`;

/** Each request of the pool uses a new connection: some proxies close a connection after a response without announcing that. */
const NO_KEEP_ALIVE = { pipelining: 0 };

/**
 * What both HTTP transports have in common: POSTs of messages with their limits and timeouts, GETs of event streams, and the
 * delivery of messages to the link.
 */
export abstract class HttpTransport implements LinkTransport, PostOwner {
  onmessage?: ((message: JSONRPCMessage, extra?: MessageExtra) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  onstream?: ((state: StreamState) => void) | undefined;
  onrefused?: ((problem: JsonProblem) => void) | undefined;
  inbound?: InboundGate | undefined;

  readonly maxMessageBytes: number;
  readonly jsonReader: JsonReader;
  readonly bodyIdleMs: number;
  readonly acceptTimeoutMs: number;
  protected readonly url: URL;
  protected headers: RequestHeaders;
  /** Connections for GET and DELETE. GETs are long-lived, and DELETEs are rare. */
  protected readonly pool: Pool;
  protected readonly path: string;
  protected readonly forwardProxy: ForwardProxy | undefined;
  private readonly postClient: PostClient;
  readonly largeResponses = new LargeResponses();
  private readonly posts = new IdTable<PendingPost>();
  private readonly deadlines = new Deadlines<PendingPost>(
    () => this.posts,
    (post) => post.expire(),
  );
  private closing: Promise<void> | undefined;

  constructor(server: HttpServer, options: HttpTransportOptions) {
    const {
      connectTimeoutMs = 5000,
      connections = () => DEFAULT_CONNECTIONS,
      egress: { createConnector, forwardProxy } = { createConnector: buildConnector },
    } = options;
    this.maxMessageBytes = options.maxMessageBytes ?? 16 * 1024 * 1024;
    this.jsonReader = new JsonReader({ ...SERVER_JSON_LIMITS, maxBytes: this.maxMessageBytes });
    this.bodyIdleMs = options.bodyIdleMs ?? 15_000;
    this.acceptTimeoutMs = options.acceptTimeoutMs ?? 30_000;
    this.url = new URL(server.url);
    this.forwardProxy = forwardProxy;
    this.headers = new RequestHeaders(server.headers ?? {}, this.url, forwardProxy);
    this.path = this.headers.target;
    this.postClient = new PostClient(this.url, this.headers.host, {
      maxConnections: connections,
      connectTimeoutMs,
      createConnector,
      needsKeepAliveHeader: forwardProxy !== undefined,
    });
    this.pool = new Pool(this.url.origin, {
      connect: createConnector({ timeout: connectTimeoutMs }),
      ...(forwardProxy && NO_KEEP_ALIVE),
      // No timeouts: an event stream may be silent for any length of time.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  abstract start(): Promise<void>;

  abstract get sessionId(): string | undefined;

  abstract saveSessionId(head: ResponseHead): void;

  abstract markSessionExpired(): void;

  /** Ends the event streams and, if the server has sessions, the session. Called once, when the transport closes. */
  protected abstract endStreams(): Promise<void>;

  setProtocolVersion(version: string | undefined): void {
    this.headers.setProtocolVersion(version);
  }

  send(message: JSONRPCMessage): Promise<void> {
    const requestId = 'method' in message && 'id' in message ? message.id : undefined;
    return this.sendText(JSON.stringify(message), requestId);
  }

  abstract sendText(text: string, requestId?: RequestId, headers?: string): Promise<void>;

  sendRequestText(
    text: string,
    requestId: RequestId,
    headers: string | undefined,
    onFailure: (error: Error) => void,
  ): void {
    this.startPost(text, requestId, headers, (error) => {
      // Deferred, because `onFailure` may end the link. The code that reports the failure must complete its own changes first.
      if (error) queueMicrotask(() => onFailure(error));
    });
  }

  abandon(requestId: RequestId): void {
    for (const post of this.posts) if (post.requestId === requestId) post.succeed();
  }

  close(): Promise<void> {
    return (this.closing ??= this.shutDown());
  }

  /**
   * Posts a message; `requestId` is its id if it is a request. The promise is settled when the `PendingPost` of the message
   * calls its `onSettled`.
   */
  protected post(text: string, requestId: RequestId | undefined, headers?: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.startPost(text, requestId, headers, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  private startPost(
    text: string,
    requestId: RequestId | undefined,
    headers: string | undefined,
    onSettled: (error?: TransportError) => void,
  ): void {
    if (this.isClosed) {
      onSettled(transportClosed());
      return;
    }
    const post = new PendingPost(this, this.posts.nextId(), text, requestId, headers, onSettled);
    this.posts.add(post);
    this.postClient.send(post);
  }

  protected get isClosed(): boolean {
    return this.closing !== undefined;
  }

  // Members for the pending posts and the event streams:

  get postHead(): string {
    return this.headers.postHead;
  }

  sendGet(lastEventId: string, handler: Dispatcher.DispatchHandler): void {
    this.pool.dispatch(
      { method: 'GET', path: this.path, headers: this.headers.forGet(lastEventId) },
      handler,
    );
  }

  deliver(message: ReadJson, requestId?: RequestId): boolean {
    if (message instanceof JsonProblem) return this.refuse(message);
    if (message.kind !== 'array') return this.deliverMessage(message, requestId);
    const messages = message.elements();
    if (!messages) {
      this.inbound?.chargeMalformed();
      throw brokenError(TOO_LONG_BATCH);
    }
    // All messages are delivered, also those that follow the response.
    const areResponses = messages.map((element) => this.deliverMessage(element, requestId));
    return areResponses.includes(true);
  }

  streamChanged(state: StreamState): void {
    this.callListener(() => this.onstream?.(state));
  }

  report(error: unknown): void {
    try {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    } catch {
      // There is no other place to report the failure of `onerror`.
    }
  }

  watchDeadline(deadline: number): void {
    this.deadlines.watch(deadline);
  }

  finished(post: PendingPost): void {
    this.posts.delete(post.id);
    this.postClient.abort(post);
  }

  /** Returns true when the message is the response to the request. */
  private deliverMessage(document: JsonDocument, requestId?: RequestId): boolean {
    const message = document.kind === 'object' ? document.value : undefined;
    if (!isMessage(message)) {
      this.inbound?.chargeMalformed();
      // Some servers replay the first event of a stream as `{}`, which is ignored without a report.
      if (!isJsonObject(message) || Object.keys(message).length > 0)
        this.report(new Error('message ignored: it is not JSON-RPC'));
      return false;
    }
    try {
      this.onmessage?.(message, requestId === undefined ? { document } : { document, requestId });
    } catch (error) {
      this.report(error);
    }
    return isResponseTo(message, requestId);
  }

  /**
   * Reports a message that was not read. Throws if it may be a response. A notification or request of the server must not fail
   * the request on whose stream it came.
   */
  private refuse(problem: JsonProblem): false {
    if (isOverLimit(problem.reason)) this.callListener(() => this.onrefused?.(problem));
    else this.inbound?.chargeMalformed();
    if (problem.document?.hasMember('method') !== true) throw unreadableMessage(problem);
    return false;
  }

  /** Calls a listener. An error that it throws is reported, and does not break the stream. */
  private callListener(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.report(error);
    }
  }

  private async shutDown(): Promise<void> {
    this.deadlines.stop();
    for (const post of this.posts) post.fail(transportClosed());
    await this.endStreams();
    this.postClient.destroy();
    await this.pool.destroy();
    this.callListener(() => this.onclose?.());
  }
}
