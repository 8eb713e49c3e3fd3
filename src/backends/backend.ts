import type { ServerConfig } from '../config/servers-config.js';
import type { Listing, ListKind } from '../core/catalog/catalog.js';
import { serverUnavailable, type GatewayError } from '../core/errors.js';
import { completesWithin } from '../lib/deadlines/timeout.js';
import type { JsonText, Member } from '../lib/json-text/json-text.js';
import type { Caller, LinkOwner } from '../mcp/mcp-context.js';
import { Tracing } from '../mcp/tracing.js';
import type { BackendEnvironment } from './backend-environment.js';
import { unlimitedQuotas } from './backend-quotas.js';
import type { BackendEvents } from './backend-events.js';
import { backendStatus, type BackendStatus } from './backend-status.js';
import { CallGate, type CallLimits } from './call-gate.js';
import { IsolatedLinks } from './isolated-links.js';
import { ServerConnection } from './lifecycle/server-connection.js';
import { StartSlots } from './lifecycle/start-slots.js';
import { downError, failureCauseOf } from './link/failure-cause.js';
import { isSessionExpired } from './link/link-errors.js';
import type { LinkFactory } from './link/link-factory.js';
import type { Link, LinkRequest, ServerNotification } from './link/link.js';
import { ServerLog } from './link/server-log.js';
import { wasFetched } from './listing/list-deduplicator.js';
import { ListingSync } from './listing/listing-sync.js';
import type { ParamHeader } from '../mcp/param-headers.js';
import type { SplitParams } from '../mcp/split-params.js';
import { traceCall, type TracedCall } from './trace-call.js';

const DISABLED = { reason: 'disabled' } as const;
/** How long a call waits until the tools of its server are listed again. */
const REFETCH_TIMEOUT_MS = 5000;

/** A call of a client to a server. */
export interface BackendCall extends TracedCall {
  readonly caller: Caller;
  /** The positions of the members of `params`, if they are known. */
  readonly paramsMembers?: readonly Member[] | undefined;
  /** See `LinkRequest`. Absent for a call that is traced, because the context of the trace is in `_meta` too. */
  readonly split?: SplitParams | undefined;
  /** Whether no other call may run on the server during this call. */
  readonly exclusive?: boolean;
  /** The arguments of the called tool that are sent in HTTP headers too. */
  readonly paramHeaders?: readonly ParamHeader[] | undefined;
}

/**
 * The gateway's object for one enabled server: keeps the connection open and the listing up to date, and sends calls through
 * the call gate.
 */
export class Backend {
  private readonly gate: CallGate;
  private readonly connection: ServerConnection;
  /** Defined only if every link owner has a link of its own. */
  readonly isolatedLinks: IsolatedLinks | undefined;
  private readonly sync: ListingSync;
  private readonly tracing: Tracing;
  private readonly log: ServerLog;
  /** The last lines on stderr of the previous link. */
  private lastStderr: readonly string[] = [];
  private calls = 0;
  /** Whether new calls are refused. Calls in flight continue. */
  private isRetired = false;
  /** The listing of the last sync. */
  listing: Listing | undefined;

  constructor(
    readonly id: string,
    private settings: ServerConfig,
    connect: LinkFactory,
    private readonly events: BackendEvents,
    {
      tracing = Tracing.OFF,
      quotas = unlimitedQuotas(),
      slots = StartSlots.unlimited(),
    }: Partial<BackendEnvironment> = {},
  ) {
    this.tracing = tracing;
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
    this.connection = new ServerConnection(
      id,
      connect,
      {
        opened: (link) => this.linkOpened(link),
        lost: (link, error) => this.linkLost(link, error),
        stateChanged: () => this.stateChanged(),
        answeredWithError: (request, error) => this.sync.refresh.handleErrorAnswer(request, error),
      },
      { kind: settings.type === 'stdio' ? 'process' : 'http', slots },
    );
    if (settings.isolation === 'session')
      this.isolatedLinks = new IsolatedLinks(connect, {
        id,
        events,
        log: this.log,
        processes: settings.type === 'stdio' ? quotas.processes : undefined,
        refreshMs: () => this.settings.refreshMs,
        sharedListing: () => this.listing,
        refuseIfUnavailable: () => this.refuseIfUnavailable(),
        send: (link, request) => this.runBackground(link, request),
      });
  }

  get config(): ServerConfig {
    return this.settings;
  }

  /** Whether every link owner has a link of its own. */
  get hasSessionLinks(): boolean {
    return this.isolatedLinks !== undefined;
  }

  /** Whether only one call can be in flight now: because of `concurrency`, or during the call of an exclusive tool. */
  get runsOneCall(): boolean {
    return this.gate.runsOneCall;
  }

  /** Number of queued requests, of clients and of the gateway itself. */
  get waiting(): number {
    return this.gate.waiting;
  }

  start(): void {
    this.connection.start();
  }

  /**
   * Applies settings that do not require a new link. Running and queued calls keep their deadlines. The new concurrency decides
   * when queued calls start.
   */
  reconfigure(settings: ServerConfig): void {
    this.settings = settings;
    this.gate.setLimits(callLimits(settings));
  }

  /** Resolves after the first sync. Resolves earlier if the server cannot be reached, or if the timeout has passed. */
  whenSynced(timeoutMs: number): Promise<void> {
    return this.sync.whenSynced(timeoutMs);
  }

  /** Refuses new and queued calls, waits for calls in flight up to their timeout, and stops. */
  async retire(): Promise<void> {
    this.isRetired = true;
    this.sync.stop();
    this.isolatedLinks?.stopSyncs();
    this.gate.rejectQueued(serverUnavailable(this.id, 'it was disabled', DISABLED));
    await completesWithin(this.gate.whenIdle(), this.settings.timeoutMs);
    await this.stop();
  }

  /** Closes the links at once: calls in flight fail. Resolves when the processes are gone. */
  async stop(): Promise<void> {
    this.sync.stop();
    this.isolatedLinks?.stopSyncs();
    this.gate.rejectQueued(serverUnavailable(this.id, 'it is being stopped', DISABLED));
    await Promise.all([this.connection.stop(), this.isolatedLinks?.close()]);
  }

  /** Replaces the link. From now on, `whenSynced` waits for the first sync over the next link. */
  reconnect(): void {
    this.sync.reset();
    this.connection.reconnect();
  }

  /** Resolves with the result as the server wrote it. Rejects at once when the server is not available. */
  call(call: BackendCall): Promise<JsonText> {
    const error = this.refuseIfUnavailable();
    if (error) return Promise.reject(error);
    this.calls++;
    const { caller, exclusive } = call;
    const { signal } = caller;
    const deadline = performance.now() + this.settings.timeoutMs;
    return this.gate.run(caller, () => this.send(call, deadline), { signal, deadline, exclusive });
  }

  /**
   * The error for a request with an unknown name while the server is not available (`refuseIfUnavailable`), or has not sent its
   * list of this kind. Otherwise undefined: the name does not exist then.
   */
  refuseIfUnlisted(kind: ListKind): GatewayError | undefined {
    const error = this.refuseIfUnavailable();
    if (error || (this.listing && wasFetched(kind, this.listing[kind]))) return error;
    const hasFailed = this.sync.failures.has(kind);
    return downError(this.id, hasFailed ? 'unresponsive' : 'starting');
  }

  /**
   * Returns the error for a call if the server is not available now, otherwise undefined. To be called only for calls, because
   * it records the call as refused. After a refused call, the next attempt to connect may begin earlier. The returned error
   * then names the shorter delay.
   */
  refuseIfUnavailable(): GatewayError | undefined {
    if (this.isRetired) return serverUnavailable(this.id, 'it was disabled', DISABLED);
    const error = this.connection.unavailableError();
    if (!error) return undefined;
    const isAttemptEarlier = this.connection.recordRefusedCall();
    return isAttemptEarlier ? this.connection.unavailableError() : error;
  }

  /**
   * Fetches the list of tools again, over the link that calls of this caller use. Resolves when the catalog has the list, or
   * after a timeout.
   */
  async refetchTools({ linkOwner }: Pick<Caller, 'linkOwner'>): Promise<void> {
    const refetched = this.isolatedLinks
      ? this.isolatedLinks.refetchTools(linkOwner)
      : this.sync.refetch('tools');
    await completesWithin(refetched, REFETCH_TIMEOUT_MS);
  }

  /** Sends a request of the gateway itself through the call gate, with the timeout of the server. */
  gatewayRequest(link: Link, method: string, params: string): Promise<JsonText> {
    return this.runBackground(link, { method, params, timeoutMs: this.settings.timeoutMs });
  }

  /** The link of one owner, which is opened if there is none. Rejects when all clients share one link. */
  async sessionLink(owner: LinkOwner): Promise<Link> {
    if (!this.isolatedLinks)
      throw this.refuseIfUnavailable() ?? serverUnavailable(this.id, 'clients share its link');
    return this.isolatedLinks.link(owner);
  }

  /**
   * To be called after a request over the link `previous` has failed. Resolves with the link that has replaced `previous`. If
   * the next link is still being opened, or is opened without a delay (for example after the server has ended the session of
   * `previous`), waits for it. Undefined if `previous` is still open, or if the next link is opened only after a delay.
   */
  async replacementLink(previous: Link | undefined): Promise<Link | undefined> {
    const { link } = this.connection;
    if (this.isRetired || (link && link === previous)) return undefined;
    return this.connection.nextLink(previous).catch(() => undefined);
  }

  /** Sets the log level of the server, now and after every reconnect. */
  setLogLevel(level: string): void {
    if (!this.log.setLevel(level)) return;
    if (this.connection.link) this.log.apply(this.connection.link);
    this.isolatedLinks?.applyLogLevel();
  }

  /** The ids of the process groups of the server; empty if it is not a stdio server, or not running. */
  get pids(): number[] {
    const pid = this.connection.link?.pid;
    return [...(pid === undefined ? [] : [pid]), ...(this.isolatedLinks?.pids ?? [])];
  }

  status(): BackendStatus {
    const { id, calls, gate, connection, settings, lastStderr } = this;
    return backendStatus({ id, calls, gate, connection, settings, lastStderr, failures: this.sync.failures });
  }

  /** Like `gatewayRequest`, with the timeout of the request. The timeout includes the time in the queue. */
  private runBackground(link: Link, request: LinkRequest): Promise<JsonText> {
    const deadline = performance.now() + request.timeoutMs;
    return this.gate.runBackground(request.method, () => link.request({ ...request, deadline }), deadline);
  }

  /** Sends a call within a span, if the client's request is traced. */
  private send(call: BackendCall, deadline: number): Promise<JsonText> {
    const { span } = call.caller;
    if (!span) return this.request(call, deadline);
    const transport = this.settings.type === 'stdio' ? 'pipe' : 'tcp';
    const attributes = { 'gatehouse.server.id': this.id, 'network.transport': transport };
    return traceCall(this.tracing, call, { parent: span, attributes }, (params) =>
      this.request({ ...call, params, paramsMembers: undefined }, deadline),
    );
  }

  /** Sends a call over the link of the caller's `linkOwner`, or over the shared link. */
  private request(
    { method, params, paramsMembers, split, caller, target, paramHeaders }: BackendCall,
    deadline: number,
  ): Promise<JsonText> {
    const { timeoutMs } = this.settings;
    const runsAlone = this.gate.runsOneCall;
    const request = {
      method,
      params,
      paramsMembers,
      split,
      caller,
      runsAlone,
      timeoutMs,
      deadline,
      target,
      paramHeaders,
    };
    return this.isolatedLinks ? this.isolatedLinks.request(request) : this.connection.request(request);
  }

  private async publish(listing: Listing): Promise<void> {
    this.listing = listing;
    if (!this.isRetired) await this.events.listed(listing);
  }

  private stateChanged(): void {
    const { state } = this.connection.status;
    if (state === 'retrying' || state === 'crash-loop' || state === 'stopped')
      this.sync.stopWaitingForFirstSync();
    this.events.stateChanged();
  }

  private linkOpened(link: Link): void {
    link.onNotification((notification) => this.handleNotification(notification));
    link.onGap(() => this.sync.fetchAfterGap());
    this.log.apply(link);
    this.sync.attach(link);
    this.events.linkChanged(link);
  }

  private linkLost(link: Link, error: Error): void {
    this.lastStderr = link.stderrTail();
    this.sync.detach();
    this.events.linkChanged(undefined);
    // After the server has ended the session of the link, queued calls wait for the next link, which is opened without delay.
    if (isSessionExpired(error)) return;
    this.gate.rejectQueued(downError(this.id, failureCauseOf(error), { cause: error }));
  }

  private handleNotification(notification: ServerNotification): void {
    const isHandled = this.sync.handleListChange(notification.method) || this.log.handle(notification);
    if (!isHandled) this.events.notified(notification);
  }
}

const callLimits = ({ isolation, concurrency, queue }: ServerConfig): CallLimits => ({
  concurrency: isolation === 'exclusive' ? 1 : concurrency,
  queue,
});
