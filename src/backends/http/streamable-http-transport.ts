import { Pool, type Dispatcher } from 'undici';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { Deadlines } from '../../lib/deadlines/deadlines.js';
import { IdTable } from '../../lib/id-table/id-table.js';
import { MAX_ELEMENTS, type JsonDocument } from '../../lib/json-text/json-document.js';
import { JsonProblem, JsonReader, type ReadJson } from '../../lib/json-text/json-reader.js';
import { SERVER_JSON_LIMITS } from '../../mcp/json-limits.js';
import { isMessage, isResponseTo } from '../../mcp/json-rpc.js';
import { brokenError, isOverLimit, unreadableMessage } from '../link/link-errors.js';
import type { LinkTransport, MessageExtra, StreamState, TransportError } from '../link/transport.js';
import { NotificationStreamReader, type NotificationStreamOwner } from './notification-stream-reader.js';
import { PendingPost, type PostOwner } from './pending-post.js';
import { PostClient } from './post-client/post-client.js';
import { headerOf, type ResponseHead } from './post-client/response-head.js';
import { RequestHeaders } from './request-headers.js';
import { transportClosed } from './transport-errors.js';

interface HttpServer {
  readonly url: string | URL;
  /** Sent with every request, except reserved headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface StreamableHttpOptions {
  /** Maximum size of one message: a JSON body or one event. */
  readonly maxMessageBytes?: number | undefined;
  readonly connectTimeoutMs?: number | undefined;
  /** Maximum pause in a body that is not an event stream. */
  readonly bodyIdleMs?: number | undefined;
  /** How long the server may take to accept a notification or response. Requests have no timeout here. */
  readonly acceptTimeoutMs?: number | undefined;
  /** Maximum number of connections. Must exceed the maximum of requests in flight: other messages need connections too. */
  readonly connections?: number | undefined;
  /** How long the notification stream may be silent before it is checked. Absent: it is never checked. */
  readonly streamIdleMs?: number | undefined;
}

/** How long the server may take to confirm the end of the session. */
const DELETE_TIMEOUT_MS = 1000;

/**
 * The client side of MCP Streamable HTTP, revisions 2025-03-26 to 2025-11-25. A transport has one session and never starts
 * another: when the session expires, the link is replaced. The failure of one request does not affect the others.
 */
export class StreamableHttpTransport implements LinkTransport, PostOwner, NotificationStreamOwner {
  onmessage?: ((message: JSONRPCMessage, extra?: MessageExtra) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  onstream?: ((state: StreamState) => void) | undefined;
  onrefused?: ((problem: JsonProblem) => void) | undefined;

  readonly maxMessageBytes: number;
  readonly jsonReader: JsonReader;
  readonly bodyIdleMs: number;
  readonly acceptTimeoutMs: number;
  readonly streamIdleMs: number | undefined;
  private readonly headers: RequestHeaders;
  private readonly postClient: PostClient;
  /** For GET and DELETE, which are long-lived or rare. */
  private readonly pool: Pool;
  private readonly path: string;
  private readonly posts = new IdTable<PendingPost>();
  private readonly deadlines = new Deadlines<PendingPost>(
    () => this.posts,
    (post) => post.expire(),
  );
  private readonly notificationStream = new NotificationStreamReader(this);
  private isSessionExpired = false;
  private closing: Promise<void> | undefined;

  constructor(server: HttpServer, options: StreamableHttpOptions = {}) {
    const { connectTimeoutMs = 5000, connections = 128 } = options;
    this.maxMessageBytes = options.maxMessageBytes ?? 16 * 1024 * 1024;
    this.jsonReader = new JsonReader({ ...SERVER_JSON_LIMITS, maxBytes: this.maxMessageBytes });
    this.bodyIdleMs = options.bodyIdleMs ?? 15_000;
    this.acceptTimeoutMs = options.acceptTimeoutMs ?? 30_000;
    this.streamIdleMs = options.streamIdleMs;
    const url = new URL(server.url);
    this.path = url.pathname + url.search;
    this.headers = new RequestHeaders(server.headers ?? {}, url);
    this.postClient = new PostClient(url, this.headers.host, {
      maxConnections: connections,
      connectTimeoutMs,
    });
    this.pool = new Pool(url.origin, {
      connections,
      connect: { timeout: connectTimeoutMs },
      // No timeouts: an event stream may be silent for any length of time.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  get sessionId(): string | undefined {
    return this.headers.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.headers.setProtocolVersion(version);
  }

  /** Connections are opened when there is a message to send. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    const requestId = 'method' in message && 'id' in message ? message.id : undefined;
    return this.sendText(JSON.stringify(message), requestId);
  }

  sendText(text: string, requestId?: RequestId): Promise<void> {
    if (this.closing) return Promise.reject(transportClosed());
    const post = new PendingPost(this, this.posts.nextId(), text, requestId);
    this.posts.add(post);
    this.postClient.send(post);
    return post.settled;
  }

  abandon(requestId: RequestId): void {
    for (const post of this.posts) if (post.requestId === requestId) post.succeed();
  }

  /** To be called when the server has accepted `notifications/initialized`; before that it may refuse the GET. */
  openNotificationStream(): void {
    this.notificationStream.open();
  }

  reopenNotificationStream(): void {
    this.notificationStream.reopen();
  }

  close(): Promise<void> {
    return (this.closing ??= this.shutDown());
  }

  // Members for the pending posts and the notification stream:

  get postHead(): string {
    return this.headers.postHead;
  }

  sendGet(lastEventId: string, handler: Dispatcher.DispatchHandler): void {
    this.pool.dispatch(
      { method: 'GET', path: this.path, headers: this.headers.forGet(lastEventId) },
      handler,
    );
  }

  /** The response to `initialize` is the first one, and contains the session id if the server has sessions. */
  saveSessionId({ headers }: ResponseHead): void {
    if (this.headers.sessionId !== undefined) return;
    const id = headerOf(headers, 'mcp-session-id');
    if (id) this.headers.setSessionId(id);
  }

  markSessionExpired(): void {
    this.isSessionExpired = true;
  }

  closeAfterSessionExpiry(error: TransportError): void {
    this.isSessionExpired = true;
    this.report(error);
    void this.close();
  }

  /** Skips objects that are not messages: some servers replay the first event of a stream as `{}`. */
  deliver(message: ReadJson, requestId?: RequestId): boolean {
    if (message instanceof JsonProblem) return this.refuse(message);
    if (message.kind !== 'array') return this.deliverMessage(message, requestId);
    const messages = message.elements();
    if (!messages) throw brokenError(`the server sent a batch of more than ${MAX_ELEMENTS} messages`);
    return messages.map((element) => this.deliverMessage(element, requestId)).includes(true);
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

  private deliverMessage(document: JsonDocument, requestId?: RequestId): boolean {
    const message = document.kind === 'object' ? document.value : undefined;
    if (!isMessage(message)) return false;
    try {
      this.onmessage?.(message, requestId === undefined ? { document } : { document, requestId });
    } catch (error) {
      this.report(error);
    }
    return isResponseTo(message, requestId);
  }

  /** A message of the server that is no response does not fail the request on whose stream it came. */
  private refuse(problem: JsonProblem): false {
    if (isOverLimit(problem.reason)) this.callListener(() => this.onrefused?.(problem));
    if (problem.document?.memberText('method') === undefined) throw unreadableMessage(problem);
    return false;
  }

  /** Reports an error that the listener throws, so that it does not break the stream. */
  private callListener(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.report(error);
    }
  }

  private async shutDown(): Promise<void> {
    this.notificationStream.close();
    this.deadlines.stop();
    for (const post of this.posts) post.fail(transportClosed());
    await this.endSession();
    this.postClient.destroy();
    await this.pool.destroy();
    this.callListener(() => this.onclose?.());
  }

  /** Best effort: resolves after the timeout if the server does not respond. */
  private endSession(): Promise<void> {
    if (this.sessionId === undefined || this.isSessionExpired) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, DELETE_TIMEOUT_MS);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.pool.dispatch(
        { method: 'DELETE', path: this.path, headers: this.headers.forDelete },
        { onRequestStart: () => {}, onResponseStart: done, onResponseError: done },
      );
    });
  }
}
