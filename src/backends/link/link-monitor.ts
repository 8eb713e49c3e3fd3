import { RemoteError } from '../../core/errors.js';
import { isBadRequest } from './link-errors.js';
import type { LinkRequest } from './link.js';
import { TransportError, type StreamState } from './transport.js';

const PING_TIMEOUT_MS = 5000;

interface LinkMonitorEvents {
  /** The link cannot be used any more. */
  dead(reason: Error): void;
  /** The notification stream is dead, though it is not closed. */
  streamDead(): void;
}

/**
 * Decides whether a link is still usable after a transport error, after the notification stream was lost or silent, or
 * when the server has sent nothing for long. Where the event alone does not show it, the monitor pings the server.
 */
export class LinkMonitor {
  /** The link sets it with every message of the server. */
  hasReceived = true;
  private isStarted = false;
  private keepaliveTimer: NodeJS.Timeout | undefined;
  private isKeepalivePending = false;
  private isSessionCheckPending = false;

  constructor(
    private readonly request: (request: LinkRequest) => Promise<unknown>,
    private readonly events: LinkMonitorEvents,
  ) {}

  /**
   * To be called when the server is initialized: before that there is no session to check. With a keepalive interval,
   * the server is pinged after every interval without a message, and has one interval to answer.
   */
  start(keepaliveIntervalMs?: number): void {
    this.isStarted = true;
    if (keepaliveIntervalMs === undefined) return;
    this.keepaliveTimer = setInterval(() => this.keepAlive(keepaliveIntervalMs), keepaliveIntervalMs).unref();
  }

  stop(): void {
    this.isStarted = false;
    clearInterval(this.keepaliveTimer);
  }

  /** Resolves with any answer, an error included: servers need not know the method. Rejects when there is none. */
  async ping(timeoutMs = PING_TIMEOUT_MS): Promise<void> {
    try {
      await this.request({ method: 'ping', timeoutMs });
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
    }
  }

  sendFailed(error: TransportError): void {
    if (error.fault === 'unreachable' || error.fault === 'session-lost') this.events.dead(error);
    else if (isBadRequest(error)) this.checkSession();
  }

  streamChanged(state: StreamState): void {
    if (state === 'lost') this.checkSession();
    // A server without anything to report may keep its stream silent.
    if (state === 'silent' && this.isStarted) this.ping().catch(() => this.events.streamDead());
  }

  /** Some servers answer HTTP 400 to an unknown session. A ping is valid in every session, so a 400 proves the loss. */
  private checkSession(): void {
    if (!this.isStarted || this.isSessionCheckPending) return;
    this.isSessionCheckPending = true;
    this.ping()
      .catch((error: Error) => {
        if (isBadRequest(error)) this.events.dead(new TransportError('session-lost', error.message));
      })
      .finally(() => (this.isSessionCheckPending = false));
  }

  private keepAlive(timeoutMs: number): void {
    const { hasReceived } = this;
    this.hasReceived = false;
    if (hasReceived || this.isKeepalivePending) return;
    this.isKeepalivePending = true;
    this.ping(timeoutMs)
      .catch((error: Error) => this.hasReceived || this.events.dead(error))
      .finally(() => (this.isKeepalivePending = false));
  }
}
