import { RemoteError } from '../../core/errors.js';
import { isBadRequest } from './link-errors.js';
import type { LinkRequest } from './link.js';
import { TransportError } from './transport.js';

const PING_TIMEOUT_MS = 5000;

export interface LinkMonitorEvents {
  sessionExpired(reason: TransportError): void;
  /** The server did not answer the ping that followed a silence of one keepalive interval. */
  keepaliveFailed(error: Error): void;
}

/** Checks by pings whether the server at the other end of a link is there and still knows its session. */
export class LinkMonitor {
  private keepaliveTimer: NodeJS.Timeout | undefined;
  private hasReceived = true;
  private isKeepalivePending = false;
  private isSessionCheckPending = false;

  constructor(
    private readonly request: (request: LinkRequest) => Promise<unknown>,
    private readonly events: LinkMonitorEvents,
  ) {}

  /** Pings the server after every interval in which no message came, and gives the server one interval to answer. */
  startKeepalive(intervalMs: number): void {
    this.keepaliveTimer = setInterval(() => this.keepAlive(intervalMs), intervalMs).unref();
  }

  /** Any message of the server counts. */
  received(): void {
    this.hasReceived = true;
  }

  stop(): void {
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

  /** Some servers answer HTTP 400 to an unknown session. A ping is valid in every session, so 400 to it proves that. */
  checkSession(): void {
    if (this.isSessionCheckPending) return;
    this.isSessionCheckPending = true;
    this.ping()
      .catch((error: Error) => {
        if (isBadRequest(error))
          this.events.sessionExpired(new TransportError('session-lost', error.message));
      })
      .finally(() => (this.isSessionCheckPending = false));
  }

  private keepAlive(timeoutMs: number): void {
    const { hasReceived } = this;
    this.hasReceived = false;
    if (hasReceived || this.isKeepalivePending) return;
    this.isKeepalivePending = true;
    this.ping(timeoutMs)
      .catch((error: Error) => this.hasReceived || this.events.keepaliveFailed(error))
      .finally(() => (this.isKeepalivePending = false));
  }
}
