import { Logger } from '@nestjs/common';
import { RemoteError, type GatewayError } from '../../core/errors.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { isSessionExpired, isTimeout, toCallError } from '../link/link-errors.js';
import type { Link, LinkRequest } from '../link/link.js';
import { TransportError } from '../link/transport.js';
import { waitForLink } from '../link/wait-for-link.js';
import {
  initialStatus,
  isReinitializing,
  transition,
  type ConnectionEvent,
  type ConnectionState,
  type ConnectionStatus,
} from './connection-state.js';
import { ServerProbe } from './server-probe.js';
import { unavailableErrorOf } from './unavailability.js';

interface ConnectionObserver {
  opened(link: Link): void;
  /** Called before the state changes. */
  lost(link: Link, cause: Error): void;
  stateChanged(): void;
}

interface LinkWaiter {
  resolve(link: Link): void;
  reject(error: Error): void;
}

/**
 * Keeps a link to one server open until `stop` is called. `transition` computes the status after each event; this class
 * opens links and sets timers as the status requires.
 */
export class ServerConnection {
  private readonly logger = new Logger('Backend');
  private readonly stopping = new AbortController();
  private current: Link | undefined;
  private currentStatus = initialStatus(Date.now());
  private running: Promise<void> | undefined;
  private closing: Promise<void> | undefined;
  private endDelay: (() => void) | undefined;
  private readonly probe = new ServerProbe({
    answered: (link) => this.recordAnswer(link),
    unanswered: (link) => {
      if (link === this.current) this.dispatch({ type: 'probe-unanswered' });
    },
  });
  /** While true, the end of the current link or attempt does not count as a failure; the next attempt begins at once. */
  private isReconnectRequested = false;
  private waiters: LinkWaiter[] = [];
  private linksOpened = 0;

  constructor(
    private readonly server: string,
    private readonly connect: (signal: AbortSignal) => Promise<Link>,
    private readonly observer: ConnectionObserver,
  ) {}

  /** The open link; undefined while there is none. */
  get link(): Link | undefined {
    return this.current;
  }

  get status(): ConnectionStatus {
    return this.currentStatus;
  }

  /** How many links were opened after the first. */
  get restarts(): number {
    return Math.max(0, this.linksOpened - 1);
  }

  /** The error with which a call fails now; undefined when the server is ready or calls wait for a new session. */
  unavailableError(): GatewayError | undefined {
    const { currentStatus } = this;
    if (currentStatus.state === 'ready') return undefined;
    return unavailableErrorOf(this.server, currentStatus, Date.now());
  }

  start(): void {
    this.running ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.endDelay?.();
    await this.current?.close();
    await this.running;
    await this.closing;
  }

  /** Opens a new link at once, without a backoff delay. Earlier failures no longer count. */
  reconnect(): void {
    this.isReconnectRequested = true;
    this.dispatch({ type: 'reconnect' });
    this.endDelay?.();
    void this.current?.close();
  }

  /** Resolves with the link that follows `lost`. Rejects when that link is opened only after a delay, or not at all. */
  nextLink(lost: Link | undefined): Promise<Link> {
    const { state, cause } = this.currentStatus;
    if (this.current && this.current !== lost) return Promise.resolve(this.current);
    const isDelayed = state === 'retrying' || state === 'crash-loop';
    if (this.isStopping || (isDelayed && !isReinitializing(this.currentStatus)))
      return Promise.reject(cause ?? stoppedError());
    return new Promise((resolve, reject) => this.waiters.push({ resolve, reject }));
  }

  /** Sends a request of a client. If the session has expired, sends the request once more, over the next link. */
  request(request: LinkRequest): Promise<JsonText> {
    const error = this.unavailableError();
    if (error) return Promise.reject(error);
    return this.current ? this.send(this.current, request, 'first') : this.resend(undefined, request);
  }

  private send(link: Link, request: LinkRequest, attempt: 'first' | 'last'): Promise<JsonText> {
    const { received } = link;
    return link.request(request).then(
      (result) => {
        this.recordAnswer(link);
        return result;
      },
      (error: unknown) => {
        if (error instanceof RemoteError) this.recordAnswer(link);
        else if (isTimeout(error) && link.received === received) this.recordTimeout(link, request);
        if (attempt === 'first' && isSessionExpired(error)) return this.resend(link, request);
        throw toCallError(this.server, error);
      },
    );
  }

  private async resend(lost: Link | undefined, request: LinkRequest): Promise<JsonText> {
    const next = this.nextLink(lost).catch((error: unknown) => {
      throw toCallError(this.server, error);
    });
    const link = await waitForLink(this.server, next, request);
    return this.send(link, request, 'last');
  }

  private recordAnswer(link: Link): void {
    // Without earlier timeouts, an answer does not change the status.
    if (link !== this.current || this.currentStatus.timeouts === 0) return;
    this.probe.stop();
    this.dispatch({ type: 'answered' });
  }

  /** Of a request during which no message of the server arrived: a slow tool is no reason to doubt the server. */
  private recordTimeout(link: Link, { timeoutMs }: LinkRequest): void {
    if (link !== this.current) return;
    this.dispatch({ type: 'timed-out' });
    this.probe.start(link, timeoutMs);
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      this.isReconnectRequested = false;
      this.dispatch({ type: 'connect' });
      await this.useLink();
      await this.waitForRetry();
    }
    this.rejectWaiters(stoppedError());
    this.dispatch({ type: 'stop' });
  }

  /** Opens a link and waits until it is closed. */
  private async useLink(): Promise<void> {
    let link: Link;
    try {
      link = await this.connect(this.stopping.signal);
    } catch (error) {
      this.recordFailure({ type: 'failed', cause: error as Error });
      return;
    }
    if (this.isStopping) return link.close();
    this.linkOpened(link);
    const cause = await link.closed;
    this.current = undefined;
    this.probe.stop();
    this.observer.lost(link, cause);
    this.closing = link.close();
    this.recordFailure({ type: 'lost', cause });
    // After an expired session, the old link may still receive responses while the next link is opened.
    if (!isSessionExpired(cause)) await this.closing;
  }

  private linkOpened(link: Link): void {
    this.current = link;
    this.linksOpened++;
    this.isReconnectRequested = false;
    this.dispatch({ type: 'opened' });
    this.observer.opened(link);
    const { waiters } = this;
    this.waiters = [];
    for (const waiter of waiters) waiter.resolve(link);
  }

  private recordFailure(event: Extract<ConnectionEvent, { readonly cause: Error }>): void {
    if (this.isReconnectRequested || this.isStopping) return;
    this.dispatch(event);
    if (!isReinitializing(this.currentStatus)) this.rejectWaiters(event.cause);
  }

  private rejectWaiters(reason: Error): void {
    const { waiters } = this;
    this.waiters = [];
    for (const waiter of waiters) waiter.reject(reason);
  }

  private async waitForRetry(): Promise<void> {
    const { since, nextAttemptAt = since } = this.currentStatus;
    if (this.isStopping || nextAttemptAt === since) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.endDelay = resolve;
      timer = setTimeout(resolve, nextAttemptAt - since).unref();
    });
    clearTimeout(timer);
    this.endDelay = undefined;
  }

  private dispatch(event: ConnectionEvent): void {
    const previous = this.currentStatus;
    this.currentStatus = transition(previous, event, { now: Date.now(), random: Math.random() });
    const { state } = this.currentStatus;
    if (state === previous.state) return;
    this.logState(previous.state);
    this.observer.stateChanged();
  }

  private logState(previous: ConnectionState): void {
    const { server } = this;
    const { state, cause } = this.currentStatus;
    const entry = { message: `server is ${state}`, server, reason: cause?.message };
    if (state === 'unresponsive') this.logger.warn({ message: 'server does not answer', server });
    else if (previous === 'unresponsive' && state === 'ready')
      this.logger.log({ message: 'server answers again', server });
    else if (state === 'retrying' || state === 'crash-loop') this.logger.warn(entry);
    else if (state !== 'connecting') this.logger.log(entry);
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }
}

const stoppedError = (): TransportError => new TransportError('unreachable', 'it is being stopped');
