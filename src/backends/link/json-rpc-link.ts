import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { completesWithin } from '../../lib/deadlines/timeout.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { RemoteError } from '../../core/errors.js';
import { MODERN_VERSION } from '../../mcp/envelope.js';
import { notificationMessage, requestMessage } from '../../mcp/json-rpc.js';
import type { InputOutcome } from '../../metrics/metric-labels.js';
import { discoverServer, eraOfFailure } from './discover.js';
import type { EndedCalls } from './ended-calls.js';
import { EraRecord, type LinkEra } from './era-record.js';
import type { ExpirableLink } from './era-watch.js';
import { InboundMessages, type InboundOptions } from './inbound-messages.js';
import { initializeServer, type InitializeOptions } from './initialize.js';
import { brokenError, cancelledError, isSessionExpired, toTransportError } from './link-errors.js';
import { LinkMonitor, type MonitorIntervals } from './link-monitor.js';
import { LEGACY_PROTOCOL, type LinkProtocol } from './link-protocol.js';
import { LinkWarnings } from './link-warnings.js';
import type { ListChangeFilter } from './listen-stream.js';
import { ListenStreams } from './listen-streams.js';
import {
  ConnectError,
  type LinkRequest,
  type NotificationStreamStatus,
  type ServerFacts,
  type ServerNotification,
} from './link.js';
import { ModernProtocol } from './modern-protocol.js';
import { negotiateEra, type Opening } from './negotiate-era.js';
import { NotificationStreamState } from './notification-stream-state.js';
import { PendingRequests, type AbandonReason, type PendingRequest } from './pending-requests.js';
import { ServerRequests } from './server-requests.js';
import { TransportError, type LinkTransport } from './transport.js';

/** How long the link waits for the responses to requests in flight after its session has expired. */
const DRAIN_TIMEOUT_MS = 5000;
const NO_LINES: readonly string[] = [];
/** Codes with which a server of 2025 refuses a request without a session. */
const LEGACY_REFUSALS: ReadonlySet<number> = new Set([-32000, -32001, -32600]);

const eraChanged = (): TransportError =>
  new TransportError('session-expired', 'the server speaks another protocol era than before');

export interface LinkOptions extends InitializeOptions, InboundOptions, MonitorIntervals {
  readonly server: string;
  /** How the link finds the era of the server; by default it is 2025. */
  readonly opening?: Opening | undefined;
  /** The verdict that the links of one server share. */
  readonly eraRecord?: EraRecord | undefined;
  /** The ended calls of all links of a server that clients share: a message may come on the link after that of its call. */
  readonly endedCalls?: EndedCalls | undefined;
  /** Called when the input that a server required was obtained from the client, or could not be. */
  readonly onInput?: ((outcome: InputOutcome) => void) | undefined;
  /** Rewrites own URIs in the params of a server request to public ones. */
  readonly toPublicParams?: ((params: JsonText) => JsonText | Promise<JsonText>) | undefined;
}

/**
 * A JSON-RPC peer over any transport, in the protocol era of its server. It assigns its own request ids and progress tokens,
 * so that ids and tokens of clients never reach the server.
 */
export class JsonRpcLink implements ExpirableLink {
  readonly closed: Promise<Error>;
  refusesSubscriptions = false;
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
  private serverFacts: ServerFacts | undefined;
  private protocol: LinkProtocol = LEGACY_PROTOCOL;
  era: LinkEra = { name: '2025', since: Date.now() };
  listens: ListenStreams | undefined;

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
        refused: (error) => this.checkEra(error),
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
      () => this.protocol.pingMethod,
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
    this.listenToTransport();
  }

  /** Starts the transport and initializes or discovers the server. Closes the transport when either fails. */
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
      await link.open();
      return link;
    } catch (error) {
      await link.close();
      throw new ConnectError(error as Error, link.stderrTail());
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  get facts(): ServerFacts {
    if (!this.serverFacts) throw new Error('the link is not initialized');
    return this.serverFacts;
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

  get sendsParamHeaders(): boolean {
    return this.era.name === '2026' && !this.hasOneStream;
  }

  request(request: LinkRequest): Promise<JsonText> {
    return this.protocol.request(request, this.send);
  }

  /** Sends one request and resolves with the result as the server wrote it. */
  private readonly send = (request: LinkRequest): Promise<JsonText> =>
    new Promise((resolve, reject) => {
      if (this.closeReason) {
        reject(new TransportError('unreachable', this.closeReason.message, {}, { cause: this.closeReason }));
        return;
      }
      if ((request.caller ?? request).signal?.aborted) {
        reject(cancelledError());
        return;
      }
      const { protocol } = this;
      const pending = this.pending.add(request, resolve, reject);
      const { id } = pending;
      const text = requestMessage(id, request.method, protocol.paramsOf(pending));
      this.transport.sendText(text, id, protocol.headersOf(request)).catch((cause: Error) => {
        const error = toTransportError(cause);
        this.countUnread(error);
        this.pending.fail(id, error);
        this.monitor.sendFailed(error);
      });
    });

  get received(): number {
    return this.monitor.received;
  }

  probe(timeoutMs: number): Promise<void> {
    return this.monitor.probe(timeoutMs, this.facts.capabilities);
  }

  /** In revision 2026-07-28, clients notify servers of nothing but cancellations. */
  notify(method: string, params?: string): void {
    if (this.protocol.era === '2025' || method === 'notifications/cancelled')
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

  private countUnread({ details }: TransportError): void {
    if (details.isUnread) this.options.onRefusedJson?.('size');
  }

  private get hasOneStream(): boolean {
    return !this.transport.openNotificationStream;
  }

  private async open(): Promise<void> {
    const {
      opening = 'initialize',
      connectTimeoutMs,
      owner,
      eraRecord: record = new EraRecord(),
    } = this.options;
    const steps = {
      initialize: () => this.initialize(),
      discover: (timeoutMs: number) => this.discover(timeoutMs),
    };
    const trustsRecord = owner !== undefined;
    this.era = record.set(await negotiateEra(steps, { opening, connectTimeoutMs, record, trustsRecord }));
  }

  private async discover(timeoutMs: number): Promise<void> {
    const { transport, options } = this;
    const { version, capabilities, toPublicParams, onInput } = options;
    const isHttp = !this.hasOneStream;
    const onHeaderMismatch = (): void => this.inbound.reportListChange('notifications/tools/list_changed');
    this.protocol = new ModernProtocol({
      version,
      capabilities,
      isHttp,
      toPublicParams,
      onInput,
      onHeaderMismatch,
    });
    transport.setProtocolVersion?.(MODERN_VERSION);
    try {
      this.serverFacts = await discoverServer(this.send, timeoutMs);
    } catch (error) {
      this.protocol = LEGACY_PROTOCOL;
      transport.setProtocolVersion?.(undefined);
      throw error;
    }
    this.serverRequests.isAllowed = false;
    this.monitor.start();
    this.listen(this.serverFacts.capabilities);
  }

  private listen({ tools, prompts, resources }: ServerCapabilities): void {
    const { limiter } = this.inbound;
    const listens = new ListenStreams(
      this.send,
      { stateChanged: (state) => this.listenStateChanged(state) },
      (count) => (limiter.awaitedAcknowledgements += count),
    );
    this.listens = listens;
    this.inbound.subscriptionFilter = (method, params, text) => listens.receive(method, params, text);
    const filter: ListChangeFilter = {
      ...(tools?.listChanged && { toolsListChanged: true }),
      ...(prompts?.listChanged && { promptsListChanged: true }),
      ...(resources?.listChanged && { resourcesListChanged: true }),
    };
    this.streamState.startTimeout();
    if (Object.keys(filter).length > 0) void listens.start(filter);
    else this.listenStateChanged(resources?.subscribe ? 'open' : 'none');
  }

  private listenStateChanged(state: 'open' | 'lost' | 'none'): void {
    if (state === 'none') this.refusesSubscriptions = true;
    this.monitor.streamChanged(state);
    this.streamState.update(state);
  }

  private async initialize(): Promise<void> {
    const { transport } = this;
    this.serverFacts = await initializeServer(this.send, this.options);
    transport.setProtocolVersion?.(this.serverFacts.protocolVersion);
    await transport.sendText(notificationMessage('notifications/initialized', undefined));
    this.monitor.start(this.options);
    // A transport without a separate stream delivers all notifications from the beginning.
    if (!transport.openNotificationStream) return this.streamState.markShared();
    this.streamState.startTimeout();
    transport.openNotificationStream();
  }

  /** Sends no cancellation for `initialize`, because MCP forbids that. */
  private cancelUpstream({ id, request }: PendingRequest, reason: AbandonReason): void {
    this.transport.abandon?.(id);
    if (request.method !== 'initialize' && this.protocol.notifiesOfCancellation)
      this.notify('notifications/cancelled', JSON.stringify({ requestId: id, reason }));
  }

  /** Sends a notification or a response, which the server does not respond to. */
  private sendOneWay(text: string): void {
    this.transport.sendText(text).catch((error: Error) => this.monitor.sendFailed(toTransportError(error)));
  }

  /** In the era 2026 a ping also checks the era: `server/discover` must offer it. */
  private monitorRequest(request: LinkRequest): Promise<unknown> {
    const { era, pingMethod } = this.protocol;
    if (era === '2025' || request.method !== pingMethod) return this.request(request);
    return discoverServer(this.send, request.timeoutMs).catch((error: unknown) => {
      throw eraOfFailure(error) === '2025' ? eraChanged() : error;
    });
  }

  /** Closes the link when the server has answered that it does not speak its era, so that the next link is negotiated. */
  private checkEra(error: Error): Error {
    if (!(error instanceof RemoteError) || !this.serverFacts) return error;
    if (this.protocol.isContradictedBy(error)) {
      const reason = eraChanged();
      this.end(reason);
      return reason;
    }
    if (this.protocol.era === '2026' && LEGACY_REFUSALS.has(error.code)) this.monitor.checkSession();
    return error;
  }

  private end(reason: Error): void {
    if (this.closeReason) return;
    this.closeReason = reason;
    this.monitor.stop();
    this.listens?.stop();
    this.inbound.limiter.stop();
    // When the session has expired, the server may still respond to requests that it accepted before.
    if (!isSessionExpired(reason)) this.failPending();
    this.resolveClosed(reason);
  }

  private failPending(): void {
    const cause = this.closeReason;
    this.serverRequests.cancelAll();
    this.pending.failAll(brokenError(cause?.message ?? 'the link was closed', { cause }));
  }

  private async closeTransport(): Promise<void> {
    if (isSessionExpired(this.closeReason)) await completesWithin(this.pending.whenEmpty(), DRAIN_TIMEOUT_MS);
    this.failPending();
    await this.transport.close();
  }
}
