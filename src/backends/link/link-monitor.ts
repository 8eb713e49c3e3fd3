import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { RemoteError } from '../../core/errors.js';
import { isBadRequest, isRefusedByServer, isSessionExpired } from './link-errors.js';
import type { LinkRequest } from './link.js';
import { TransportError, type StreamState } from './transport.js';

const PING_TIMEOUT_MS = 5000;
/** The capabilities whose list a probe may request. */
const LIST_KINDS = ['tools', 'resources', 'prompts'] as const;

export interface MonitorIntervals {
  /** After this time without a message of the server, the link pings it. The link ends if the server does not respond. */
  readonly keepaliveIntervalMs?: number | undefined;
  /** After this time without a request to the server, the link pings it, because some servers end idle sessions. */
  readonly idlePingIntervalMs?: number | undefined;
}

interface LinkMonitorEvents {
  /** The link cannot be used any more. */
  linkFailed(reason: Error): void;
  /** The connection of the notification stream is dead but not closed. */
  streamFailed(): void;
}

/**
 * Detects that a link cannot be used any more. Symptoms are a transport error, a lost or silent notification stream, and a
 * keepalive interval without a message. If a symptom may have another cause, the monitor pings the server before it decides.
 */
export class LinkMonitor {
  /**
   * Number of messages of the server, increased by `InboundMessages`. An HTTP error of the server counts as a message
   * (`sendFailed`).
   */
  received = 0;
  /** The value of `received` at the end of the last keepalive interval. */
  private receivedBefore = -1;
  /** The value of `latestRequest` at the end of the last idle interval. */
  private requestBefore = -1;
  private probes = 0;
  private isStarted = false;
  private pingTimer: NodeJS.Timeout | undefined;
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
   * To be called when the server is initialized, because before that there is no session to check. If a keepalive interval is
   * given, the server must respond to a ping within that interval, and the idle interval is ignored. If only an idle interval
   * is given, a missing response to a ping is ignored.
   */
  start({ keepaliveIntervalMs, idlePingIntervalMs }: MonitorIntervals = {}): void {
    this.isStarted = true;
    if (keepaliveIntervalMs !== undefined)
      this.pingTimer = setInterval(() => this.keepAlive(keepaliveIntervalMs), keepaliveIntervalMs).unref();
    else if (idlePingIntervalMs !== undefined)
      this.pingTimer = setInterval(() => this.pingIfIdle(), idlePingIntervalMs).unref();
  }

  stop(): void {
    this.isStarted = false;
    clearInterval(this.pingTimer);
  }

  /** Rejects when the server does not respond. An error response counts, because a server need not implement `ping`. */
  async ping(timeoutMs = PING_TIMEOUT_MS): Promise<void> {
    try {
      await this.request({ method: this.pingMethod(), timeoutMs });
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
    }
  }

  /**
   * Pings the server. Every second probe requests a list, because some servers do not respond to `ping` at all. Resolves when
   * the server has responded, or after the timeout.
   */
  async probe(timeoutMs: number, capabilities: ServerCapabilities): Promise<void> {
    const kind = LIST_KINDS.find((candidate) => capabilities[candidate]);
    this.probes++;
    const method = this.probes % 2 === 0 && kind ? `${kind}/list` : this.pingMethod();
    await this.request({ method, timeoutMs: Math.min(timeoutMs, PING_TIMEOUT_MS) }).catch(() => {});
  }

  /** To be called when a message could not be sent, or was answered with an HTTP error. */
  sendFailed(error: TransportError): void {
    // The HTTP response shows that the server is reachable.
    if (isRefusedByServer(error)) this.received++;
    if (error.fault === 'unreachable' || error.fault === 'session-expired') this.events.linkFailed(error);
    else if (isBadRequest(error)) this.checkSession();
  }

  /** To be called when the state of the notification stream has changed. */
  streamChanged(state: StreamState): void {
    if (state === 'lost') this.checkSession();
    // A silent stream is normal if the server has nothing to report. The ping shows whether the server is reachable.
    if (state === 'silent' && this.isStarted) this.ping().catch(() => this.events.streamFailed());
  }

  /**
   * Ends the link if a ping shows that the session has expired. Some servers respond to every request of an expired session with
   * HTTP 400. A ping is a valid request, so HTTP 400 in response to it means that the session has expired.
   */
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

  /** Pings the server if there was no request in the last interval. Only requests keep the session of a server alive. */
  private pingIfIdle(): void {
    if (this.latestRequest() === this.requestBefore) this.ping().catch(() => {});
    this.requestBefore = this.latestRequest();
  }

  /** Pings the server if no message has arrived in the last interval. */
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
