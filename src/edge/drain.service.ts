import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { ShutdownSettings } from '../config/shutdown-settings.js';
import { completesWithin } from '../lib/deadlines/timeout.js';
import { Metrics } from '../metrics/metrics.js';
import type { GatewayServer } from './gateway-server.js';
import { MessageReceiver } from './message-receiver.js';
import { Listens } from './modern/listens.service.js';
import { ModernRequests } from './modern/modern-requests.js';
import { ParkedCalls } from './modern/parked-calls.js';
import { SessionPersistence } from './session-persistence.js';
import { Sessions } from './sessions.service.js';

/**
 * How long idle connections stay open after the listener was closed, because a load balancer may be writing a request
 * to one of them. New connections are refused, so that the load balancer selects another gateway.
 */
const LINGER_MS = 500;
/** Maximum number of requests that one log line describes. */
const MAX_LOGGED_REQUESTS = 10;

/**
 * Shuts the gateway down in this order: it serves all requests until load balancers have noticed the failing readiness
 * probe, finishes the requests that have arrived by then, closes the listener, and ends the streams. Requests on open
 * connections are served until the connections are closed.
 */
@Injectable()
export class Drain implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Drain');
  /**
   * True after the shutdown signal. The readiness probe fails while this is true, so that load balancers no longer
   * select this gateway.
   */
  isDraining = false;
  /** Undefined if the application does not listen. */
  server: Pick<GatewayServer, 'closeAfterResponse' | 'stopListening' | 'whenClosed'> | undefined;

  constructor(
    private readonly receiver: MessageReceiver,
    private readonly sessions: Sessions,
    private readonly persistence: SessionPersistence,
    private readonly settings: ShutdownSettings,
    private readonly metrics: Metrics,
    private readonly modernRequests: ModernRequests,
    private readonly parkedCalls: ParkedCalls,
    private readonly listens: Listens,
  ) {}

  /**
   * The gateway waits for `acceptMs` and `LINGER_MS` only after SIGTERM, which orchestrators send. After Ctrl-C, it ends
   * without these two waits.
   */
  async beforeApplicationShutdown(signal?: string): Promise<void> {
    this.isDraining = true;
    const acceptMs = signal === 'SIGTERM' ? Math.min(this.settings.acceptMs, this.settings.drainMs) : 0;
    const deadline = performance.now() + this.settings.drainMs;
    if (acceptMs > 0) await sleep(acceptMs, undefined, { ref: false });
    this.server?.closeAfterResponse();
    this.logRequests('the drain waits for requests in flight', 'log');
    // The listener stays open until the current requests are finished, because a server may send the client a request
    // during a call, and the client responds on a new connection.
    await completesWithin(this.receiver.inFlight.whenCurrentFinished(), timeUntil(deadline));
    this.parkedCalls.cancelAll();
    this.server?.stopListening();
    await this.server?.whenClosed(Math.min(LINGER_MS, acceptMs, timeUntil(deadline)));
    await completesWithin(this.receiver.inFlight.whenIdle(), timeUntil(deadline));
    const { size: unfinished } = this.receiver.inFlight;
    if (unfinished > 0) {
      this.metrics.countCutOff(unfinished);
      this.logRequests('requests were cut off by the drain deadline', 'warn');
    }
    await this.persistence.writeActivity();
    this.modernRequests.abortAll();
    this.listens.endAll();
    this.sessions.suspendAll();
  }

  /** Logs the number of requests in flight and describes the oldest. Logs nothing if there are none. */
  private logRequests(message: string, level: 'log' | 'warn'): void {
    const { size: requests } = this.receiver.inFlight;
    if (requests === 0) return;
    const sessionRequests = [...this.sessions.all()].flatMap((session) => [...session.requests.all]);
    const runningRequests = [...sessionRequests, ...this.modernRequests.all];
    const oldest = runningRequests
      .toSorted((a, b) => a.startedAt - b.startedAt)
      .slice(0, MAX_LOGGED_REQUESTS);
    const now = performance.now();
    this.logger[level]({ message, requests, oldest: oldest.map((request) => request.describe(now)) });
  }
}

const timeUntil = (deadline: number): number => Math.max(0, deadline - performance.now());
