import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { ShutdownSettings } from '../config/shutdown-settings.js';
import { completesWithin } from '../lib/deadlines/timeout.js';
import { Metrics } from '../metrics/metrics.js';
import type { GatewayServer } from './gateway-server.js';
import { MessageReceiver } from './message-receiver.js';
import { SessionPersistence } from './session-persistence.js';
import { Sessions } from './sessions.service.js';

/**
 * After the listener was closed, idle connections stay open for this long: a balancer that reuses one is answered, and
 * one that needs a new connection is refused and selects another gateway.
 */
const LINGER_MS = 500;

/**
 * Shutdown in order: serve as before until load balancers have noticed, wait for the requests of that time, close the
 * listener, and end the streams last. What arrives on open connections is served until they are closed.
 */
@Injectable()
export class Drain implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Drain');
  /** From the signal on the gateway is not ready, so that load balancers select it no longer. */
  isDraining = false;
  /** Absent when the application does not listen. */
  server: Pick<GatewayServer, 'closeAfterResponse' | 'stopListening' | 'whenClosed'> | undefined;

  constructor(
    private readonly receiver: MessageReceiver,
    private readonly sessions: Sessions,
    private readonly persistence: SessionPersistence,
    private readonly settings: ShutdownSettings,
    private readonly metrics: Metrics,
  ) {}

  /** Only SIGTERM, the signal of orchestrators, has the accept phase: a user who presses Ctrl-C does not wait for it. */
  async beforeApplicationShutdown(signal?: string): Promise<void> {
    this.isDraining = true;
    const acceptMs = signal === 'SIGTERM' ? Math.min(this.settings.acceptMs, this.settings.drainMs) : 0;
    const deadline = performance.now() + this.settings.drainMs;
    if (acceptMs > 0) await sleep(acceptMs, undefined, { ref: false });
    this.server?.closeAfterResponse();
    // Until then the listener stays open: these requests may need a response of their client, on a new connection.
    await completesWithin(this.receiver.whenCurrentFinished(), timeUntil(deadline));
    this.server?.stopListening();
    await this.server?.whenClosed(Math.min(LINGER_MS, acceptMs, timeUntil(deadline)));
    await completesWithin(this.receiver.whenIdle(), timeUntil(deadline));
    const { inFlight } = this.receiver;
    if (inFlight > 0) {
      this.metrics.countCutOff(inFlight);
      this.logger.warn({ message: 'requests were cut off by the drain deadline', requests: inFlight });
    }
    await this.persistence.writeActivity();
    this.sessions.suspendAll();
  }
}

const timeUntil = (deadline: number): number => Math.max(0, deadline - performance.now());
