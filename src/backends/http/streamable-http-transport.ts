import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { LinkTransport, MessageExtra, StreamState, TransportError } from '../link/transport.js';
import { Endpoint } from './endpoint.js';
import { PendingPost, type PendingPostOptions } from './pending-post.js';
import { closed } from './faults.js';
import { InFlight } from './in-flight.js';
import { Inbox } from './inbox.js';
import { NotificationStreamReader } from './notification-stream-reader.js';

export interface HttpServer {
  readonly url: string | URL;
  /** Sent with every request, but for those the protocol or the connection needs for itself. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface StreamableHttpOptions {
  /** One message: a JSON body or one event. */
  readonly maxMessageBytes?: number | undefined;
  readonly connectTimeoutMs?: number | undefined;
  /** How long a body other than a stream of events may pause. */
  readonly bodyIdleMs?: number | undefined;
  /** How long a notification or a response of ours may wait to be accepted; a request waits until `abandon`. */
  readonly acceptTimeoutMs?: number | undefined;
  /** Must be more than the requests ever in flight: each holds one, and so do the standing stream and replies. */
  readonly connections?: number | undefined;
  /** Silence after which the standing stream may be dead. No limit where absent. */
  readonly streamIdleMs?: number | undefined;
}

const FAREWELL_MS = 1000;

/**
 * The client's side of MCP Streamable HTTP, revisions 2025-03-26 to 2025-11-25. It keeps one session and never
 * begins another: after `session-lost` it is of no more use. A failed exchange leaves all others alone.
 */
export class StreamableHttpTransport implements LinkTransport {
  onmessage?: ((message: JSONRPCMessage, received?: MessageExtra) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  onstream?: ((state: StreamState) => void) | undefined;

  private readonly endpoint: Endpoint;
  private readonly inbox = new Inbox(this);
  private readonly inFlight = new InFlight();
  private readonly standingStream: NotificationStreamReader;
  private readonly setting: PendingPostOptions;
  private closing: Promise<void> | undefined;

  constructor(server: HttpServer, options: StreamableHttpOptions = {}) {
    const { inbox, inFlight } = this;
    const { connectTimeoutMs = 5000, connections = 128, streamIdleMs } = options;
    const { maxMessageBytes = 16 * 1024 * 1024, bodyIdleMs = 15_000, acceptTimeoutMs = 30_000 } = options;
    const endpoint = new Endpoint(new URL(server.url), server.headers ?? {}, {
      connectTimeoutMs,
      connections,
    });
    this.endpoint = endpoint;
    this.setting = {
      endpoint,
      inbox,
      maxMessageBytes,
      bodyIdleMs,
      acceptTimeoutMs,
      watch: (deadline) => inFlight.watch(deadline),
      ended: (exchange) => inFlight.delete(exchange),
    };
    this.standingStream = new NotificationStreamReader({
      endpoint,
      inbox,
      maxMessageBytes,
      streamIdleMs,
      stateChanged: (state) => inbox.guard(() => this.onstream?.(state)),
      sessionLost: (error) => this.closeFor(error),
    });
  }

  get sessionId(): string | undefined {
    return this.endpoint.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.endpoint.headers.protocolVersion = version;
  }

  /** Nothing to do: connections are made when there is something to send. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    const requestId = 'method' in message && 'id' in message ? message.id : undefined;
    return this.sendText(JSON.stringify(message), requestId);
  }

  sendText(text: string, requestId?: RequestId): Promise<void> {
    if (this.closing) return Promise.reject(closed());
    const exchange = new PendingPost(this.setting, this.inFlight.nextId(), requestId);
    this.inFlight.add(exchange);
    exchange.send(text);
    return exchange.settled;
  }

  abandon(requestId: RequestId): void {
    this.inFlight.abandon(requestId);
  }

  /** To be called when the server has accepted `notifications/initialized`; before that it may refuse the GET. */
  openNotificationStream(): void {
    this.standingStream.open();
  }

  reopenNotificationStream(): void {
    this.standingStream.renew();
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    this.standingStream.close();
    this.inFlight.close();
    await this.endpoint.endSession(FAREWELL_MS);
    await this.endpoint.destroy();
    this.inbox.guard(() => this.onclose?.());
  }

  private closeFor(error: TransportError): void {
    this.endpoint.sessionLost = true;
    this.inbox.report(error);
    void this.close();
  }
}
