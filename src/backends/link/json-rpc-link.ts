import { RemoteError } from '../../core/errors.js';
import { completesWithin } from '../../lib/deadlines/timeout.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { notificationMessage, requestMessage } from '../../mcp/json-rpc.js';
import { ORIGIN_GRACE_MS } from './ended-calls.js';
import type { LinkEra } from './era-record.js';
import type { ExpirableLink } from './era-watch.js';
import { eraChanged, Handshake } from './handshake.js';
import { InboundMessages } from './inbound-messages.js';
import { brokenError, cancelledError, isSessionExpired, toTransportError } from './link-errors.js';
import { LinkMonitor } from './link-monitor.js';
import type { LinkOptions } from './link-options.js';
import { LinkWarnings } from './link-warnings.js';
import type { ListenStreams } from './listen-streams.js';
import {
  ConnectError,
  type LinkRequest,
  type NotificationStreamStatus,
  type ServerFacts,
  type ServerNotification,
} from './link.js';
import { NotificationStreamState } from './notification-stream-state.js';
import { PendingRequests, type AbandonReason, type PendingRequest } from './pending-requests.js';
import { ServerRequests } from './server-requests.js';
import { TransportError, type LinkTransport } from './transport.js';

/** How long a link whose session the server has ended waits for the responses to its requests in flight. */
const LATE_RESPONSE_TIMEOUT_MS = 5000;
const NO_LINES: readonly string[] = [];

/**
 * A link over any transport, in the protocol era of its server. It assigns its own request ids and progress tokens, so that
 * ids and tokens of clients never reach the server.
 */
export class JsonRpcLink implements ExpirableLink {
  readonly closed: Promise<Error>;
  private readonly pending: PendingRequests;
  private readonly serverRequests: ServerRequests;
  private readonly monitor: LinkMonitor;
  private readonly streamState = new NotificationStreamState();
  private readonly warnings: LinkWarnings;
  private readonly inbound: InboundMessages;
  private resolveClosed!: (reason: Error) => void;
  private closeReason: Error | undefined;
  private closing: Promise<void> | undefined;
  private transportError: TransportError | undefined;
  private readonly handshake: Handshake;

  private constructor(
    private readonly transport: LinkTransport,
    private readonly options: LinkOptions,
  ) {
    this.closed = new Promise((resolve) => (this.resolveClosed = resolve));
    this.pending = new PendingRequests(
      options.server,
      {
        abandoned: (pending, reason) => this.cancelUpstream(pending, reason),
        removed: (caller) => this.serverRequests.callerFinished(caller),
        limitReached: (limit) => options.onMemoryLimit?.(limit),
        isWaitingForClient: (caller) => this.serverRequests.hasOpenFor(caller),
        errorOfRefusal: (error) => this.checkEra(error),
      },
      !transport.openNotificationStream,
      options.endedCalls,
    );
    this.serverRequests = new ServerRequests(
      (text) => this.sendOneWay(text),
      (callers) => this.pending.extendDeadlines(callers),
      options.toPublicParams,
      options.onMemoryLimit,
      () => options.onUnattributed?.('request'),
    );
    this.monitor = new LinkMonitor(
      (request) => this.monitorRequest(request),
      {
        linkFailed: (reason) => this.end(reason),
        streamFailed: () => transport.reopenNotificationStream?.(),
      },
      () => this.pending.latestId,
      () => this.handshake.protocol.pingMethod,
    );
    this.warnings = new LinkWarnings(options.server);
    this.inbound = new InboundMessages(
      this.pending,
      this.serverRequests,
      this.monitor,
      this.warnings,
      {
        lost: () => this.streamState.reportGap(),
        failed: (error) => transport.onerror?.(error),
      },
      options,
    );
    const { serverRequests, monitor, inbound, streamState } = this;
    this.handshake = new Handshake(
      { transport, inbound, serverRequests, monitor, streamState },
      this.send,
      options,
    );
    this.listenToTransport();
  }

  /**
   * Starts the transport and negotiates with the server. Rejects with a ConnectError when either fails, or when the signal is
   * aborted; the transport is then closed.
   */
  static async connect(
    transport: LinkTransport,
    options: LinkOptions,
    signal: AbortSignal,
  ): Promise<JsonRpcLink> {
    if (signal.aborted) throw brokenError('the link was closed');
    const link = new JsonRpcLink(transport, options);
    const onAbort = (): void => void link.close();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await transport.start();
      await link.handshake.open();
      link.fenceResponses();
      return link;
    } catch (error) {
      await link.close();
      throw new ConnectError(error as Error, link.stderrTail());
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  get facts(): ServerFacts {
    const { facts } = this.handshake;
    if (!facts) throw new Error('the link is not initialized');
    return facts;
  }

  get era(): LinkEra {
    return this.handshake.era;
  }

  get listens(): ListenStreams | undefined {
    return this.handshake.listens;
  }

  get refusesSubscriptions(): boolean {
    return this.handshake.refusesSubscriptions;
  }

  set refusesSubscriptions(refuses: boolean) {
    this.handshake.refusesSubscriptions = refuses;
  }

  get pid(): number | undefined {
    return this.transport.pid;
  }

  stderrTail(): readonly string[] {
    return this.transport.stderrTail?.() ?? NO_LINES;
  }

  onNotification(listener: (notification: ServerNotification) => void): void {
    this.inbound.notificationListener = listener;
  }

  get notificationStream(): NotificationStreamStatus {
    return this.streamState.status;
  }

  get notificationsReady(): Promise<void> {
    return this.streamState.ready;
  }

  onGap(listener: () => void): void {
    this.streamState.onGap(listener);
  }

  checkGaps(check: () => Promise<boolean>): void {
    this.streamState.checkGaps(check);
  }

  get sendsParamHeaders(): boolean {
    return this.era.name === '2026' && this.transport.openNotificationStream !== undefined;
  }

  request(request: LinkRequest): Promise<JsonText> {
    const { protocol } = this.handshake;
    const fenced = this.pending.requestBegins(request);
    return fenced
      ? fenced.then(() => protocol.request(request, this.send))
      : protocol.request(request, this.send);
  }

  /** Sends one request and resolves with the result as the server wrote it. */
  private readonly send = (request: LinkRequest): Promise<JsonText> =>
    new Promise((resolve, reject) => this.sendRequest(request, resolve, reject));

  /** Sends one request. `resolve` or `reject` is called before any later message of the server is processed. */
  private sendRequest(
    request: LinkRequest,
    resolve: PendingRequest['resolve'],
    reject: PendingRequest['reject'],
  ): void {
    if (this.closeReason) {
      reject(new TransportError('unreachable', this.closeReason.message, {}, { cause: this.closeReason }));
      return;
    }
    const signal = request.caller ? request.caller.signal : request.signal;
    if (signal?.aborted) {
      reject(cancelledError());
      return;
    }
    const { protocol } = this.handshake;
    const pending = this.pending.add(request, resolve, reject);
    const { id } = pending;
    const text = requestMessage(id, request.method, protocol.paramsOf(pending));
    const headers = protocol.headersOf(request);
    const onFailure = (cause: Error): void => this.sendFailed(id, toTransportError(cause));
    if (this.transport.sendRequestText) this.transport.sendRequestText(text, id, headers, onFailure);
    else this.transport.sendText(text, id, headers).catch(onFailure);
  }

  /**
   * Pings the server while several clients of one principal call (see `ResponseFence`). Few servers send requests after the
   * response to their call, so servers without log messages are not pinged.
   */
  private fenceResponses(): void {
    if (this.options.owner || !this.facts.capabilities.logging) return;
    const method = this.handshake.protocol.pingMethod;
    this.pending.fenceResponses((settled) =>
      this.sendRequest(
        { method, timeoutMs: ORIGIN_GRACE_MS },
        () => settled(true),
        (error) => settled(error instanceof RemoteError),
      ),
    );
  }

  /** Rejects a request that could not be sent, or whose response cannot be read. */
  private sendFailed(id: number, error: TransportError): void {
    this.countUnread(error);
    this.pending.fail(id, error);
    this.monitor.sendFailed(error);
  }

  get received(): number {
    return this.monitor.received;
  }

  probe(timeoutMs: number): Promise<void> {
    return this.monitor.probe(timeoutMs, this.facts.capabilities);
  }

  /** Sends a notification. In revision 2026-07-28, cancellations are the only notifications to servers; others are dropped. */
  notify(method: string, params?: string): void {
    if (this.handshake.protocol.era === '2025' || method === 'notifications/cancelled')
      this.sendOneWay(notificationMessage(method, params));
  }

  close(): Promise<void> {
    this.end(brokenError('the link was closed'));
    this.closing ??= this.closeTransport();
    return this.closing;
  }

  expire(): void {
    this.end(eraChanged());
  }

  private listenToTransport(): void {
    const { transport, inbound } = this;
    transport.inbound = inbound.limiter;
    transport.onmessage = (message, extra) => inbound.receive(message, extra);
    transport.onrefused = (problem) => inbound.receiveRefused(problem);
    // Other errors, for example about a line that is not a JSON-RPC message, do not affect the link.
    transport.onerror = (error) => {
      if (error instanceof TransportError) {
        this.transportError = error;
        this.countUnread(error);
      } else this.warnings.add('the server sent a message that was not processed', error.message);
    };
    transport.onclose = () => {
      this.end(this.transportError ?? brokenError('the connection closed'));
      this.failPending();
    };
    transport.onstream = (state) => {
      this.monitor.streamChanged(state);
      this.streamState.update(state);
    };
  }

  /** Counts a message that the transport did not read, because it exceeds the size limit. */
  private countUnread({ details }: TransportError): void {
    if (details.isUnread) this.options.onRefusedJson?.('size');
  }

  /** Tells the server that a request was cancelled or timed out, except for `initialize`: MCP forbids to cancel it. */
  private cancelUpstream({ id, request }: PendingRequest, reason: AbandonReason): void {
    this.transport.abandon?.(id);
    if (request.method !== 'initialize' && this.handshake.protocol.notifiesOfCancellation)
      this.notify('notifications/cancelled', JSON.stringify({ requestId: id, reason }));
  }

  /** Sends a message without a response: a notification, or a response of the gateway. */
  private sendOneWay(text: string): void {
    this.transport.sendText(text).catch((error: Error) => this.monitor.sendFailed(toTransportError(error)));
  }

  /** Sends a ping or probe of the monitor. */
  private monitorRequest(request: LinkRequest): Promise<unknown> {
    const { protocol } = this.handshake;
    const isModernPing = protocol.era === '2026' && request.method === protocol.pingMethod;
    return isModernPing ? this.handshake.checkModern(request) : this.request(request);
  }

  /** Ends the link when the error says that the server no longer speaks its era. The next link is then negotiated anew. */
  private checkEra(error: Error): Error {
    if (!this.handshake.isContradictedBy(error)) return error;
    const reason = eraChanged();
    this.end(reason);
    return reason;
  }

  /** Makes the link unusable, and resolves `closed`. */
  private end(reason: Error): void {
    if (this.closeReason) return;
    this.closeReason = reason;
    this.monitor.stop();
    this.listens?.stop();
    this.inbound.limiter.stop();
    // After the server has ended the session of the link, it may still respond to requests that it has accepted before.
    if (!isSessionExpired(reason)) this.failPending();
    this.resolveClosed(reason);
  }

  private failPending(): void {
    const cause = this.closeReason;
    this.serverRequests.cancelAll();
    this.pending.failAll(brokenError(cause?.message ?? 'the link was closed', { cause }));
  }

  private async closeTransport(): Promise<void> {
    if (isSessionExpired(this.closeReason))
      await completesWithin(this.pending.whenEmpty(), LATE_RESPONSE_TIMEOUT_MS);
    this.failPending();
    await this.transport.close();
  }
}
