import type { ServerConfig } from '../config/servers-config.js';
import { EMPTY_LISTING, type Listing, type ListKind } from '../core/catalog/catalog.js';
import { serverUnavailable, type GatewayError } from '../core/errors.js';
import { completesWithin } from '../lib/deadlines/timeout.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import type { Caller, ClientSession } from '../mcp/mcp-context.js';
import { Tracing } from '../mcp/tracing.js';
import { unlimitedQuotas, type BackendQuotas } from './backend-quotas.js';
import type { BackendStatus } from './backend-status.js';
import { CallGate, type CallLimits } from './call-gate.js';
import { ServerConnection } from './lifecycle/server-connection.js';
import { StartSlots } from './lifecycle/start-slots.js';
import { causeOf } from './lifecycle/unavailability.js';
import { downError, failureCauseOf } from './link/failure-cause.js';
import { isSessionExpired } from './link/link-errors.js';
import type { LinkFactory } from './link/link-factory.js';
import { ConnectError, type Link, type LinkRequest, type ServerNotification } from './link/link.js';
import { ServerLog } from './link/server-log.js';
import { updateSourceOf, type UpdateSource } from './link/update-source.js';
import { SessionLinks } from './link/session-links.js';
import { ListingSync } from './listing/listing-sync.js';
import { SessionSyncs } from './listing/session-syncs.js';
import { traceCall } from './trace-call.js';

const DISABLED = { reason: 'disabled' } as const;

/** What a backend reports to the Backends service. */
export interface BackendEvents {
  /** A list was fetched. Resolves when the catalog has the listing. */
  listed(listing: Listing): Promise<void>;
  /** The shared link was opened, or lost. */
  linkChanged(link: Link | undefined): void;
  /** A link of one session was opened; `link.closed` settles when it ends. */
  sessionLinkOpened(link: Link, owner: ClientSession): void;
  /** `owner` is set for a notification over the link of one session. */
  notified(notification: ServerNotification, owner?: ClientSession): void;
  stateChanged(): void;
  /** A list was fetched over the link of one session. Resolves when the catalog of the session has it. */
  sessionListed(owner: ClientSession, listing: Listing): Promise<void>;
  /** A list of one session is over a limit. */
  sessionListTruncated(): void;
}

export interface BackendCall {
  readonly method: string;
  readonly params: string | undefined;
  readonly caller: Caller;
  /** The own name or URI of the called tool, prompt or resource, for traces. */
  readonly target?: string;
  /** No other call runs on the server during this one. */
  readonly exclusive?: boolean;
}

/** One enabled server: keeps its connection open and its listing current, and sends calls through the call gate. */
export class Backend {
  private readonly gate: CallGate;
  private readonly connection: ServerConnection;
  private readonly sessionLinks: SessionLinks | undefined;
  private readonly sync: ListingSync;
  private readonly sessionSyncs: SessionSyncs;
  private readonly log: ServerLog;
  private lastStderr: readonly string[] = [];
  private calls = 0;
  /** New calls are refused; calls in flight continue. */
  private isRetired = false;
  /** The listing of the last sync. */
  listing: Listing | undefined;

  constructor(
    readonly id: string,
    private settings: ServerConfig,
    connect: LinkFactory,
    private readonly events: BackendEvents,
    private readonly tracing = Tracing.OFF,
    quotas: BackendQuotas = unlimitedQuotas(),
    slots: StartSlots = StartSlots.unlimited(),
  ) {
    this.gate = new CallGate(id, callLimits(settings), quotas);
    this.log = new ServerLog(
      id,
      (link, method, params) => this.gatewayRequest(link, method, params),
      (notification) => events.notified(notification),
    );
    this.sync = new ListingSync(
      id,
      {
        publish: (listing) => this.publish(listing),
        failuresChanged: () => events.stateChanged(),
        refreshMs: () => this.settings.refreshMs,
      },
      (link, request) => this.runBackground(link, request),
    );
    this.sessionSyncs = new SessionSyncs(
      id,
      {
        listed: (owner, listing) => events.sessionListed(owner, listing),
        truncated: () => events.sessionListTruncated(),
        refreshMs: () => this.settings.refreshMs,
      },
      (link, request) => this.runBackground(link, request),
      () => this.listing,
    );
    this.connection = new ServerConnection(
      id,
      connect,
      {
        opened: (link) => this.linkOpened(link),
        lost: (link, cause) => this.linkLost(link, cause),
        stateChanged: () => this.stateChanged(),
        refused: (request, error) => this.sync.refresh.handleRefusal(request, error),
      },
      { kind: settings.type === 'stdio' ? 'process' : 'http', slots },
    );
    if (settings.isolation === 'session')
      this.sessionLinks = new SessionLinks(
        id,
        (owner, signal) => connect(signal, owner),
        (link, owner) => this.sessionLinkOpened(link, owner),
        settings.type === 'stdio' ? quotas.processes : undefined,
      );
  }

  get config(): ServerConfig {
    return this.settings;
  }

  /** Whether every session has a link of its own. */
  get hasSessionLinks(): boolean {
    return this.sessionLinks !== undefined;
  }

  start(): void {
    this.connection.start();
  }

  /** Applies settings that do not require a new link, also to calls that are running or queued. */
  reconfigure(settings: ServerConfig): void {
    this.settings = settings;
    this.gate.setLimits(callLimits(settings));
  }

  /** Resolves after the first sync over the link, when the server cannot be reached, or after the timeout. */
  whenSynced(timeoutMs: number): Promise<void> {
    return this.sync.whenSynced(timeoutMs);
  }

  /** Refuses new calls, waits for calls in flight up to their timeout, and stops. */
  async retire(): Promise<void> {
    this.isRetired = true;
    this.sync.stop();
    this.sessionSyncs.stop();
    this.gate.rejectQueued(serverUnavailable(this.id, 'it was disabled', DISABLED));
    await completesWithin(this.gate.whenIdle(), this.settings.timeoutMs);
    await this.stop();
  }

  /** Closes the links at once: calls in flight fail. Resolves when the processes are gone. */
  async stop(): Promise<void> {
    this.sync.stop();
    this.sessionSyncs.stop();
    this.gate.rejectQueued(serverUnavailable(this.id, 'it is being stopped', DISABLED));
    await Promise.all([this.connection.stop(), this.sessionLinks?.closeAll()]);
  }

  /** Replaces the link. From now on `whenSynced` waits for the first sync over the next link. */
  reconnect(): void {
    this.sync.reset();
    this.connection.reconnect();
  }

  /** Resolves with the result as the server wrote it. Rejects at once when the server is not available. */
  call(call: BackendCall): Promise<JsonText> {
    const error = this.unavailableError();
    if (error) return Promise.reject(error);
    this.calls++;
    const { caller, exclusive } = call;
    const { signal } = caller;
    const deadline = performance.now() + this.settings.timeoutMs;
    return this.gate.run(caller, () => this.send(call, deadline), { signal, deadline, exclusive });
  }

  /** The error for a request by an unknown name of this server; undefined when the names of the server are known. */
  notListedError(kind: ListKind): GatewayError | undefined {
    const error = this.unavailableError();
    if (error || (this.listing && this.listing[kind] !== EMPTY_LISTING[kind])) return error;
    const hasFailed = this.sync.failures.has(kind);
    return downError(this.id, hasFailed ? 'unresponsive' : 'starting');
  }

  /** The error with which a call fails now. Tells the connection that a call was refused. */
  unavailableError(): GatewayError | undefined {
    if (this.isRetired) return serverUnavailable(this.id, 'it was disabled', DISABLED);
    const error = this.connection.unavailableError();
    return error && this.connection.recordRefusedCall() ? this.connection.unavailableError() : error;
  }

  /** Sends a request of the gateway itself over this link, through the call gate. */
  gatewayRequest(link: Link, method: string, params: string): Promise<JsonText> {
    return this.runBackground(link, { method, params, timeoutMs: this.settings.timeoutMs });
  }

  /** The link of one session, opened if there is none. Rejects when the sessions share one link. */
  async sessionLink(session: ClientSession): Promise<Link> {
    const unavailable = this.unavailableError();
    if (unavailable) throw unavailable;
    if (!this.sessionLinks) throw serverUnavailable(this.id, 'clients share its link');
    return this.sessionLinks.get(session);
  }

  /** Whether the link of this session is open, or is being opened. */
  hasSessionLink(session: ClientSession): boolean {
    return this.sessionLinks?.has(session) ?? false;
  }

  /** Opens the link of the session and resolves when the server has listed over it, or after the timeout. */
  async listSession(session: ClientSession, timeoutMs: number): Promise<void> {
    await this.sessionLink(session);
    await this.sessionSyncs.whenSynced(session, timeoutMs);
  }

  /** The link that follows `lost`, if it is open or being opened without delay, as after an expired session. */
  async replacementLink(lost: Link | undefined): Promise<Link | undefined> {
    const { link } = this.connection;
    if (this.isRetired || (link && link === lost)) return undefined;
    return this.connection.nextLink(lost).catch(() => undefined);
  }

  /** Sets the log level of the server, now and after every reconnect. */
  setLogLevel(level: string): void {
    if (!this.log.setLevel(level)) return;
    if (this.connection.link) this.log.apply(this.connection.link);
    this.sessionLinks?.forEach((link) => this.log.apply(link));
  }

  /** Notifies the server over the link of this session, if there is one. */
  notifySessionLink(session: ClientSession, method: string): void {
    this.sessionLinks?.notify(session, method);
  }

  status(): BackendStatus {
    const { id, calls } = this;
    const { inFlight, waiting } = this.gate;
    const { link, restarts, status } = this.connection;
    const { state, cause, since, attempts } = status;
    const reason = state === 'ready' ? this.sync.failures.reason : cause?.message;
    return {
      id,
      state,
      cause: causeOf(status),
      reason: state === 'unresponsive' ? undefined : reason,
      failedLists: this.sync.failures.size,
      since,
      attempts,
      restarts,
      calls,
      inFlight,
      waiting,
      pid: link?.pid,
      facts: link?.facts,
      notificationStream: link?.notificationStream,
      updates: link?.facts.capabilities.resources && this.updateSourceOf(link),
      stderr: link?.stderrTail() ?? (cause instanceof ConnectError ? cause.stderr : this.lastStderr),
    };
  }

  /** The timeout includes the time in the queue. */
  private runBackground(link: Link, request: LinkRequest): Promise<JsonText> {
    const deadline = performance.now() + request.timeoutMs;
    return this.gate.runBackground(request.method, () => link.request({ ...request, deadline }), deadline);
  }

  private send(call: BackendCall, deadline: number): Promise<JsonText> {
    const { span } = call.caller;
    if (!span) return this.request(call, call.params, deadline);
    const transport = this.settings.type === 'stdio' ? 'pipe' : 'tcp';
    const attributes = { 'gatehouse.server.id': this.id, 'network.transport': transport };
    return traceCall(this.tracing, call, { parent: span, attributes }, (params) =>
      this.request(call, params, deadline),
    );
  }

  private request(
    { method, caller }: BackendCall,
    params: string | undefined,
    deadline: number,
  ): Promise<JsonText> {
    const request = { method, params, caller, timeoutMs: this.settings.timeoutMs, deadline };
    if (!this.sessionLinks) return this.connection.request(request);
    const error = this.unavailableError();
    return error ? Promise.reject(error) : this.sessionLinks.request(request);
  }

  private updateSourceOf(link: Link): UpdateSource {
    const { subscribe, watch } = this.settings;
    return updateSourceOf(link, subscribe, watch.pollMs);
  }

  private async publish(listing: Listing): Promise<void> {
    this.listing = listing;
    if (!this.isRetired) await this.events.listed(listing);
  }

  private stateChanged(): void {
    const { state } = this.connection.status;
    if (state === 'retrying' || state === 'crash-loop' || state === 'stopped') this.sync.skipFirstSync();
    this.events.stateChanged();
  }

  private linkOpened(link: Link): void {
    link.onNotification((notification) => this.handleNotification(notification));
    link.onGap(() => this.sync.fetchAfterGap());
    this.log.apply(link);
    this.sync.attach(link);
    this.events.linkChanged(link);
  }

  private linkLost(link: Link, cause: Error): void {
    this.lastStderr = link.stderrTail();
    this.sync.detach();
    this.events.linkChanged(undefined);
    // After an expired session, queued calls wait for the next link, which is opened without delay.
    if (isSessionExpired(cause)) return;
    this.gate.rejectQueued(downError(this.id, failureCauseOf(cause), { cause }));
  }

  private sessionLinkOpened(link: Link, owner: ClientSession): void {
    this.log.apply(link);
    link.onNotification((notification) => this.handleSessionNotification(notification, owner));
    this.sessionSyncs.attach(link, owner);
    this.events.sessionLinkOpened(link, owner);
  }

  private handleNotification(notification: ServerNotification): void {
    const isHandled = this.sync.handleListChange(notification.method) || this.log.handle(notification);
    if (!isHandled) this.events.notified(notification);
  }

  /** Notifications over the link of one session are for that session alone. */
  private handleSessionNotification(notification: ServerNotification, owner: ClientSession): void {
    const { method } = notification;
    if (method === 'notifications/resources/updated') this.events.notified(notification, owner);
    else if (!this.sessionSyncs.handleListChange(owner, method)) this.log.handle(notification);
  }
}

const callLimits = ({ isolation, concurrency, queue }: ServerConfig): CallLimits => ({
  concurrency: isolation === 'exclusive' ? 1 : concurrency,
  queue,
});
