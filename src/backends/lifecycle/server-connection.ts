import { RemoteError, type GatewayError } from '../../core/errors.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { isSessionExpired, isTimeout, toCallError } from '../link/link-errors.js';
import { ConnectError, type Link, type LinkRequest } from '../link/link.js';
import { TransportError } from '../link/transport.js';
import { waitForLink } from '../link/wait-for-link.js';
import {
  initialStatus,
  isReinitializing,
  transition,
  type ConnectionEvent,
  type ConnectionStatus,
} from './connection-state.js';
import { LinkWaiters } from './link-waiters.js';
import type { ServerKind } from './retry-delays.js';
import { RetryWait } from './retry-wait.js';
import { ServerProbe } from './server-probe.js';
import { ServerStarter } from './server-starter.js';
import { StartSlots } from './start-slots.js';
import { StateLog } from './state-log.js';
import { unavailableErrorOf } from './unavailability.js';

interface ConnectionObserver {
  opened(link: Link): void;
  /** Called before the state changes. */
  lost(link: Link, error: Error): void;
  stateChanged(): void;
  /** The server answered a request of a client with an error. */
  answeredWithError?(request: LinkRequest, error: RemoteError): void;
}

/** The last lost link or failed attempt. It is kept when a link is open again. */
export interface LastFailure {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly error: Error;
  /** The last lines of the process on stderr. */
  readonly stderr: readonly string[];
}

/** Maximum lines of stderr that are kept with a failure. */
const MAX_FAILURE_LINES = 20;

interface ConnectionOptions {
  readonly kind?: ServerKind;
  readonly slots?: StartSlots;
}

/**
 * Keeps a link to one server open until `stop` is called. `transition` computes the status after each event; this class
 * opens links and sets timers as the status requires.
 */
export class ServerConnection {
  private readonly log: StateLog;
  private readonly stopping = new AbortController();
  private current: Link | undefined;
  private currentStatus: ConnectionStatus;
  private readonly starter: ServerStarter;
  /** The result of `run`. */
  private running: Promise<void> | undefined;
  /** Resolves when the last lost link is closed. */
  private closing: Promise<void> | undefined;
  private readonly retryWait = new RetryWait();
  private readonly probe = new ServerProbe({
    answered: (link) => this.recordAnswer(link),
    unanswered: (link) => {
      if (link === this.current) this.dispatch({ type: 'probe-unanswered' });
    },
  });
  /** While true, the end of the current link or attempt does not count as a failure, and the next attempt begins at once. */
  private isReconnectRequested = false;
  private readonly waiters = new LinkWaiters();
  private failure: LastFailure | undefined;

  constructor(
    private readonly server: string,
    connect: (signal: AbortSignal) => Promise<Link>,
    private readonly observer: ConnectionObserver,
    { kind = 'process', slots = StartSlots.unlimited() }: ConnectionOptions = {},
  ) {
    this.currentStatus = initialStatus(Date.now(), kind);
    this.starter = new ServerStarter(connect, kind, slots);
    this.log = new StateLog(server);
  }

  /** The open link; undefined while there is none. */
  get link(): Link | undefined {
    return this.current;
  }

  get status(): ConnectionStatus {
    return this.currentStatus;
  }

  get restarts(): number {
    return this.starter.restarts;
  }

  /** How long the current attempt to connect has run; undefined while there is none, or it waits for a slot to start. */
  get connectingMs(): number | undefined {
    return this.starter.runningMs;
  }

  /** Undefined before the first failure. */
  get lastFailure(): LastFailure | undefined {
    return this.failure;
  }

  /**
   * The error with which a call fails now; undefined when the server is ready, or when calls wait until a link with a new session
   * is open.
   */
  unavailableError(): GatewayError | undefined {
    const { currentStatus } = this;
    if (currentStatus.state === 'ready') return undefined;
    return unavailableErrorOf(this.server, currentStatus, Date.now());
  }

  /** To be called when a call is refused. Returns whether the call has brought the next attempt forward. */
  recordRefusedCall(): boolean {
    const { nextAttemptAt } = this.currentStatus;
    this.dispatch({ type: 'called' });
    const isEarlier = this.currentStatus.nextAttemptAt !== nextAttemptAt;
    if (isEarlier) this.retryWait.recheck();
    return isEarlier;
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Resolves when the link is closed. No further link is opened. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.retryWait.recheck();
    await this.current?.close();
    await this.running;
    await this.closing;
  }

  /** Opens a new link at once, without a backoff delay. Earlier failures no longer count. */
  reconnect(): void {
    this.isReconnectRequested = true;
    this.dispatch({ type: 'reconnect' });
    this.retryWait.recheck();
    void this.current?.close();
  }

  /**
   * Resolves with the link that follows `previous`, which may be open still. Rejects when the next link is opened only after a
   * delay, or not at all.
   */
  nextLink(previous: Link | undefined): Promise<Link> {
    const { state, error } = this.currentStatus;
    if (this.current && this.current !== previous) return Promise.resolve(this.current);
    const isDelayed = state === 'retrying' || state === 'crash-loop';
    if (this.isStopping || (isDelayed && !isReinitializing(this.currentStatus)))
      return Promise.reject(error ?? stoppedError());
    return this.waiters.wait();
  }

  /** Sends a request of a client. If the server has ended the session of the link, sends it once more, over the next link. */
  request(request: LinkRequest): Promise<JsonText> {
    const error = this.unavailableError();
    if (error) return Promise.reject(error);
    return this.current ? this.send(this.current, request, 'first') : this.resend(undefined, request);
  }

  /** If the server has ended the session of the link, a request whose `attempt` is `first` is sent again over the next link. */
  private send(link: Link, request: LinkRequest, attempt: 'first' | 'last'): Promise<JsonText> {
    const { received } = link;
    return link.request(request).then(
      (result) => {
        this.recordAnswer(link);
        return result;
      },
      (error: unknown) => {
        if (error instanceof RemoteError) {
          this.recordAnswer(link);
          this.observer.answeredWithError?.(request, error);
        } else if (isTimeout(error) && link.received === received) this.recordTimeout(link, request);
        if (attempt === 'first' && isSessionExpired(error)) return this.resend(link, request);
        throw toCallError(this.server, error);
      },
    );
  }

  /** Waits for the link that follows `previous`, and sends the request over it. */
  private async resend(previous: Link | undefined, request: LinkRequest): Promise<JsonText> {
    const next = this.nextLink(previous).catch((error: unknown) => {
      throw toCallError(this.server, error);
    });
    const link = await waitForLink(this.server, next, request);
    return this.send(link, request, 'last');
  }

  /** To be called when a message of the server has arrived. */
  private recordAnswer(link: Link): void {
    // Without earlier timeouts, an answer does not change the status.
    if (link !== this.current || this.currentStatus.timeouts === 0) return;
    this.probe.stop();
    this.dispatch({ type: 'answered' });
  }

  /**
   * To be called when a request has timed out and no message of the server arrived meanwhile. If a message has arrived, the
   * server answers and only the called tool is slow.
   */
  private recordTimeout(link: Link, { timeoutMs }: LinkRequest): void {
    if (link !== this.current) return;
    this.dispatch({ type: 'timed-out' });
    this.probe.start(link, timeoutMs);
  }

  /** Opens one link after the other, until the connection is stopped. Never rejects. */
  private async run(): Promise<void> {
    while (!this.isStopping) {
      this.isReconnectRequested = false;
      this.dispatch({ type: 'connect' });
      await this.useLink();
      await this.waitForRetry();
    }
    this.waiters.reject(stoppedError());
    this.dispatch({ type: 'stop' });
  }

  /** Opens a link and waits until it is closed. */
  private async useLink(): Promise<void> {
    let link: Link;
    try {
      // A link for a new session does not wait for a slot: calls wait for the link, and a new session costs the server little.
      link = await this.starter.open(this.stopping.signal, isReinitializing(this.currentStatus));
    } catch (error) {
      const stderr = error instanceof ConnectError ? error.stderr : [];
      this.recordFailure({ type: 'failed', error: error as Error }, stderr);
      return;
    }
    if (this.isStopping) return link.close();
    this.linkOpened(link);
    const error = await link.closed;
    this.current = undefined;
    this.probe.stop();
    this.observer.lost(link, error);
    this.closing = link.close();
    this.recordFailure({ type: 'lost', error }, link.stderrTail());
    // If the server has ended the session of the link, the link may still receive responses while the next link is opened.
    if (!isSessionExpired(error)) await this.closing;
  }

  private linkOpened(link: Link): void {
    this.current = link;
    this.isReconnectRequested = false;
    this.dispatch({ type: 'opened' });
    this.observer.opened(link);
    this.waiters.resolve(link);
  }

  private recordFailure(
    event: Extract<ConnectionEvent, { readonly error: Error }>,
    stderr: readonly string[],
  ): void {
    if (this.isReconnectRequested || this.isStopping) return;
    if (!isSessionExpired(event.error))
      this.failure = { at: Date.now(), error: event.error, stderr: stderr.slice(-MAX_FAILURE_LINES) };
    this.dispatch(event);
    if (!isReinitializing(this.currentStatus)) this.waiters.reject(event.error);
  }

  private waitForRetry(): Promise<void> {
    return this.retryWait.until(() => {
      const { since, nextAttemptAt = since } = this.currentStatus;
      return this.isStopping ? 0 : nextAttemptAt - since;
    });
  }

  /** Applies an event to the status. Logs and reports a change of the state. */
  private dispatch(event: ConnectionEvent): void {
    const previous = this.currentStatus;
    this.currentStatus = transition(previous, event, { now: Date.now(), random: Math.random() });
    const { state } = this.currentStatus;
    if (state === previous.state) return;
    this.log.changed(this.currentStatus, previous.state, this.failure?.stderr);
    this.observer.stateChanged();
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }
}

const stoppedError = (): TransportError => new TransportError('unreachable', 'it is being stopped');
