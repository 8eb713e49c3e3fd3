import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { MODERN_VERSION } from '../../mcp/envelope.js';
import type { TransportError } from '../link/transport.js';
import { HttpTransport, type HttpServer, type HttpTransportOptions } from './http-transport.js';
import { NotificationStreamReader, type NotificationStreamOwner } from './notification-stream-reader.js';
import { headerOf, type ResponseHead } from './post-client/response-head.js';

export interface StreamableHttpOptions extends HttpTransportOptions {
  /** How long the notification stream may be silent before it is checked. If absent, it is never checked. */
  readonly streamIdleMs?: number | undefined;
}

/** How long the server may take to confirm the end of the session. */
const DELETE_TIMEOUT_MS = 1000;

/**
 * The client side of MCP Streamable HTTP. Up to revision 2025-11-25 a transport has one session and never starts another:
 * when the session expires, the link is replaced. The failure of one request does not affect the others.
 */
export class StreamableHttpTransport extends HttpTransport implements NotificationStreamOwner {
  readonly streamIdleMs: number | undefined;
  private readonly notificationStream = new NotificationStreamReader(this);
  private isSessionExpired = false;

  constructor(server: HttpServer, options: StreamableHttpOptions = {}) {
    super(server, options);
    this.streamIdleMs = options.streamIdleMs;
  }

  get sessionId(): string | undefined {
    return this.headers.sessionId;
  }

  /** Connections are opened when there is a message to send. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  sendText(text: string, requestId?: RequestId, headers?: string): Promise<void> {
    return this.post(text, requestId, headers);
  }

  /** To be called when the server has accepted `notifications/initialized`. Before that, it may refuse the GET. */
  openNotificationStream(): void {
    this.notificationStream.open();
  }

  reopenNotificationStream(): void {
    this.notificationStream.reopen();
  }

  // Members for the pending posts and the notification stream:

  /**
   * Saves the session id of the first response, which is the response to `initialize`. Revision 2026-07-28 has no sessions.
   */
  saveSessionId({ headers }: ResponseHead): void {
    if (this.headers.sessionId !== undefined || this.headers.version === MODERN_VERSION) return;
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

  protected endStreams(): Promise<void> {
    this.notificationStream.close();
    return this.endSession();
  }

  /** Tells the server that the session ends. Resolves when the server has responded, or after the timeout. */
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
