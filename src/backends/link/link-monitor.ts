import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { RemoteError } from '../../core/errors.js';
import { isBadRequest, isRefusedByServer, isSessionExpired } from './link-errors.js';
import type { LinkRequest } from './link.js';
import { TransportError, type StreamState } from './transport.js';

const PING_TIMEOUT_MS = 5000;
/** Kinds of lists that a probe may request. */
const LIST_KINDS = ['tools', 'resources', 'prompts'] as const;

export interface MonitorIntervals {
  /** After this long without a message, the link pings the server, and closes if the server does not respond. */
  readonly keepaliveIntervalMs?: number | undefined;
  /** After this long without a request, the link pings the server: some servers end idle sessions. */
  readonly idlePingIntervalMs?: number | undefined;
}

interface LinkMonitorEvents {
  /** The link cannot be used any more. */
  linkFailed(reason: Error): void;
  /** The connection of the notification stream is dead but not closed. */
  streamFailed(): void;
}

/**
 * Detects that a link cannot be used any more: after a transport error, when the notification stream is lost or silent, or
 * when the server sends nothing for a keepalive interval. If a symptom may have another cause, the monitor pings the
 * server.
 */
export class LinkMonitor {
  /** Number of messages of the server. `InboundMessages` increments it for each message that the transport delivers. */
  received = 0;
  /** The value of `received` at the end of the last keepalive interval. */
  private receivedBefore = -1;
  /** The value of `latestRequest` at the end of the last idle interval. */
  private requestBefore = -1;
  private probes = 0;
  private isStarted = false;
  private keepaliveTimer: NodeJS.Timeout | undefined;
  private isKeepalivePending = false;
  private isSessionCheckPending = false;

  constructor(
    private readonly request: (request: LinkRequest) => Promise<unknown>,
    private readonly events: LinkMonitorEvents,
    /** A number that changes with every request over the link. */
    private readonly latestRequest: () => number = () => 0,
    private readonly pingMethod: () => string = () => 'ping',
  ) {}

  /**
   * To be called when the server is initialized: before that there is no session to check. With a keepalive interval,
   * the monitor pings the server after every interval without a message. The server has one interval to respond. With an
   * idle interval, it pings the server after every interval without a request, and ignores a missing response.
   */
  start({ keepaliveIntervalMs, idlePingIntervalMs }: MonitorIntervals = {}): void {
    this.isStarted = true;
    if (keepaliveIntervalMs !== undefined)
      this.keepaliveTimer = setInterval(
        () => this.keepAlive(keepaliveIntervalMs),
        keepaliveIntervalMs,
      ).unref();
    else if (idlePingIntervalMs !== undefined)
      this.keepaliveTimer = setInterval(() => this.pingIfIdle(), idlePingIntervalMs).unref();
  }

  stop(): void {
    this.isStarted = false;
    clearInterval(this.keepaliveTimer);
  }

  /** Resolves when the server responds, even with an error, because a server need not implement `ping`. Otherwise rejects. */
  async ping(timeoutMs = PING_TIMEOUT_MS): Promise<void> {
    try {
      await this.request({ method: this.pingMethod(), timeoutMs });
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
    }
  }

  /**
   * Pings the server or, in every second probe, requests a list: some servers do not respond to `ping` at all.
   * Resolves when the server has responded, or after the timeout.
   */
  async probe(timeoutMs: number, capabilities: ServerCapabilities): Promise<void> {
    const kind = LIST_KINDS.find((candidate) => capabilities[candidate]);
    const method = this.probes++ % 2 === 1 && kind ? `${kind}/list` : this.pingMethod();
    await this.request({ method, timeoutMs: Math.min(timeoutMs, PING_TIMEOUT_MS) }).catch(() => {});
  }

  sendFailed(error: TransportError): void {
    if (isRefusedByServer(error)) this.received++;
    if (error.fault === 'unreachable' || error.fault === 'session-expired') this.events.linkFailed(error);
    else if (isBadRequest(error)) this.checkSession();
  }

  streamChanged(state: StreamState): void {
    if (state === 'lost') this.checkSession();
    // A silent stream is normal when the server has nothing to report; the ping shows whether the server is there.
    if (state === 'silent' && this.isStarted) this.ping().catch(() => this.events.streamFailed());
  }

  /** Some servers respond with HTTP 400 when the session has expired. A ping cannot cause HTTP 400 otherwise. */
  checkSession(): void {
    if (!this.isStarted || this.isSessionCheckPending) return;
    this.isSessionCheckPending = true;
    this.ping()
      .catch((error: Error) => {
        if (isBadRequest(error) || isSessionExpired(error))
          this.events.linkFailed(new TransportError('session-expired', error.message));
      })
      .finally(() => (this.isSessionCheckPending = false));
  }

  /** Only requests to the server count, because servers end sessions without requests. */
  private pingIfIdle(): void {
    if (this.latestRequest() === this.requestBefore) this.ping().catch(() => {});
    this.requestBefore = this.latestRequest();
  }

  private keepAlive(timeoutMs: number): void {
    const { received } = this;
    const hasReceived = received !== this.receivedBefore;
    this.receivedBefore = received;
    if (hasReceived || this.isKeepalivePending) return;
    this.isKeepalivePending = true;
    this.ping(timeoutMs)
      .catch((error: Error) => {
        if (this.received === received) this.events.linkFailed(error);
      })
      .finally(() => (this.isKeepalivePending = false));
  }
}
