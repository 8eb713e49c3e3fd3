import type { ServerConfig } from '../config/servers-config.js';
import type { Listing } from '../core/catalog/catalog.js';
import { serverUnavailable } from '../core/errors.js';
import { JsonText } from '../lib/json-text/json-text.js';
import type { Caller, ClientSession } from '../mcp/mcp-context.js';
import { Tracing } from '../mcp/tracing.js';
import { Availability } from './lifecycle/availability.js';
import { toCallError, hasFault } from './call-errors.js';
import { CallGate, type CallLimits } from './call-gate.js';
import { ConnectError, type Link, type ServerFacts, type ServerNotification } from './link/link.js';
import { isSessionExpired } from './link/link-faults.js';
import { ServerLog } from './link/server-log.js';
import { SessionLinks } from './link/session-links.js';
import { FirstSync } from './listing/first-sync.js';
import { Supervisor, type ConnectionState } from './lifecycle/supervisor.js';
import { Sync } from './listing/sync.js';
import { traceCall } from './trace-call.js';
import { unlessAborted } from './link/unless-aborted.js';
import { completesWithin } from '../lib/deadlines/timeout.js';

/** No session has this id. */
const GATEWAY_KEY = '';

/** Opens a link to a server, for all clients or for the one that owns it. */
export type LinkFactory = (signal: AbortSignal, owner?: ClientSession) => Promise<Link>;

/** What the rest of the house hears from a backend. */
export interface BackendEvents {
  listed(listing: Listing): void;
  /** There is a new link for all clients, or none any more. */
  linkChanged(link: Link | undefined): void;
  /** One client has a link to itself; `link.closed` says until when. */
  sessionLinkOpened(link: Link, owner: ClientSession): void;
  /** `owner` is the client on whose own link it came. */
  notified(notification: ServerNotification, owner?: ClientSession): void;
  stateChanged(): void;
}

export interface BackendCall {
  readonly method: string;
  readonly params: string | undefined;
  readonly caller: Caller;
  /** What the call is about, by the server's own name for it. */
  readonly target?: string;
  /** Nothing else may run on the server meanwhile. */
  readonly exclusive?: boolean;
}

export interface BackendStatus {
  readonly id: string;
  readonly state: ConnectionState | 'unresponsive';
  readonly reason: string | undefined;
  readonly since: number;
  readonly restarts: number;
  /** How many there were since it was enabled. */
  readonly calls: number;
  readonly inFlight: number;
  readonly waiting: number;
  readonly pid: number | undefined;
  readonly facts: ServerFacts | undefined;
  /** The same array until there is more. */
  readonly stderr: readonly string[];
}

/** One configured server: its link, kept up; its listing, kept current; its calls, let through the gate. */
export class Backend {
  private readonly gate: CallGate;
  private readonly supervisor: Supervisor;
  private readonly sessionLinks: SessionLinks | undefined;
  private readonly availability: Availability;
  private readonly sync: Sync;
  private readonly firstSync = new FirstSync();
  private readonly log: ServerLog;
  private lastStderr: readonly string[] = [];
  private calls = 0;
  /** What it offered at the last sync. */
  listing: Listing | undefined;

  constructor(
    readonly id: string,
    private settings: ServerConfig,
    connect: LinkFactory,
    private readonly events: BackendEvents,
    private readonly tracing = Tracing.OFF,
  ) {
    this.gate = new CallGate(id, callLimits(settings));
    this.log = new ServerLog(
      id,
      () => this.settings.timeoutMs,
      (notification) => events.notified(notification),
    );
    this.sync = new Sync(
      id,
      (listing) => this.listed(listing),
      () => this.firstSync.complete(),
    );
    this.supervisor = new Supervisor(
      id,
      connect,
      (link) => this.linked(link),
      (link, reason) => this.lost(link, reason),
      () => this.stateChanged(),
    );
    this.availability = new Availability(id, this.supervisor, () => events.stateChanged());
    if (settings.isolation === 'session') {
      const open = (owner: ClientSession, signal: AbortSignal): Promise<Link> => connect(signal, owner);
      this.sessionLinks = new SessionLinks(open, (link, owner) => {
        this.log.apply(link);
        link.onNotification((notification) => this.ownNotified(notification, owner));
        this.events.sessionLinkOpened(link, owner);
      });
    }
  }

  get config(): ServerConfig {
    return this.settings;
  }

  /** Whether every client has a link to itself. */
  get hasSessionLinks(): boolean {
    return this.sessionLinks !== undefined;
  }

  start(): void {
    this.supervisor.start();
  }

  /** Other settings for the same link; whatever runs or waits goes on under them. */
  reconfigure(settings: ServerConfig): void {
    this.settings = settings;
    this.gate.setLimits(callLimits(settings));
  }

  /** Resolves once it is known what the server offers, or that it cannot be reached, but waits no longer than told. */
  whenSynced(longestMs: number): Promise<void> {
    return this.firstSync.wait(longestMs);
  }

  /** Takes no new calls, lets those in flight finish within their own timeout, and stops. */
  async retire(): Promise<void> {
    this.availability.retired = true;
    this.gate.rejectQueued(serverUnavailable(this.id, 'it was disabled'));
    await completesWithin(this.gate.idle(), this.settings.timeoutMs);
    await this.stop();
  }

  /** Waits for nothing but the processes: calls in flight fail. */
  async stop(): Promise<void> {
    this.sync.stop();
    this.gate.rejectQueued(serverUnavailable(this.id, 'it is being stopped'));
    await Promise.all([this.supervisor.stop(), this.sessionLinks?.closeAll()]);
  }

  /** `settled` is about the next link from now on; what still comes from the one there is says nothing of that. */
  reconnect(): void {
    this.firstSync.reset();
    this.sync.detach();
    this.supervisor.reconnect();
  }

  /** The result as the server wrote it. Fails at once when the server is not there. */
  call(call: BackendCall): Promise<JsonText> {
    const reason = this.availability.refusal();
    if (reason) return Promise.reject(reason);
    this.calls++;
    const { session, signal } = call.caller;
    const deadline = performance.now() + this.settings.timeoutMs;
    const { exclusive } = call;
    return this.gate.run(session.id, () => this.send(call), { signal, deadline, exclusive });
  }

  /** A request of the gateway's own over this link. It takes its turn among the calls as one client more. */
  async gatewayRequest(link: Link, method: string, params: string): Promise<JsonText> {
    const { timeoutMs } = this.settings;
    const deadline = performance.now() + timeoutMs;
    return this.gate.run(GATEWAY_KEY, () => link.request({ method, params, timeoutMs }), { deadline });
  }

  /** The link that a client has to itself, opened if need be. Rejects where the server keeps none. */
  async sessionLink(client: ClientSession): Promise<Link> {
    const reason = this.availability.refusal();
    if (reason) throw reason;
    if (!this.sessionLinks) throw serverUnavailable(this.id, 'clients share its link');
    try {
      return await this.sessionLinks.get(client);
    } catch (error) {
      throw serverUnavailable(this.id, (error as Error).message, { cause: error });
    }
  }

  /** The link after a lost one, if it is being opened already, as after the server had forgotten us; undefined if not. */
  async replacementLink(lost: Link | undefined): Promise<Link | undefined> {
    const { link } = this.supervisor;
    if (this.availability.retired || (link && link === lost)) return undefined;
    return this.supervisor.replacement(lost).catch(() => undefined);
  }

  /** The level the most talkative client wants; the server is told now and after every reconnect. */
  setLogLevel(level: string): void {
    if (!this.log.setLevel(level)) return;
    if (this.supervisor.link) this.log.apply(this.supervisor.link);
    this.sessionLinks?.forEach((link) => this.log.apply(link));
  }

  /** Tells the server over the link that this client has to itself, if it has one. */
  notifySessionLink(client: ClientSession, method: string): void {
    this.sessionLinks?.notify(client, method);
  }

  status(): BackendStatus {
    const { state, reason, since, restarts, link } = this.supervisor;
    return {
      id: this.id,
      state: this.availability.hangs ? 'unresponsive' : state,
      reason: reason?.message,
      since,
      restarts,
      calls: this.calls,
      inFlight: this.gate.inFlight,
      waiting: this.gate.waiting,
      pid: link?.pid,
      facts: link?.facts,
      stderr: link?.stderrTail() ?? (reason instanceof ConnectError ? reason.stderr : this.lastStderr),
    };
  }

  private send(call: BackendCall): Promise<JsonText> {
    if (this.sessionLinks) return this.sendOverOwn(call);
    const reason = this.availability.refusal();
    if (reason) return Promise.reject(reason);
    const { link } = this.supervisor;
    if (!link) return this.sendOverNext(undefined, call);
    return this.request(link, call).catch((error: unknown) => {
      // That the server has forgotten our session proves that it did not run the call.
      if (hasFault(error, 'session-lost')) return this.sendOverNext(link, call);
      throw toCallError(this.id, error);
    });
  }

  private async sendOverOwn(call: BackendCall): Promise<JsonText> {
    const { session, signal } = call.caller;
    const link = await unlessAborted(signal, this.sessionLink(session));
    try {
      return await this.request(link, call);
    } catch (error) {
      throw toCallError(this.id, error);
    }
  }

  private async sendOverNext(lost: Link | undefined, call: BackendCall): Promise<JsonText> {
    try {
      const next = await unlessAborted(call.caller.signal, this.supervisor.replacement(lost));
      return await this.request(next, call);
    } catch (failure) {
      throw toCallError(this.id, failure);
    }
  }

  private request(link: Link, call: BackendCall): Promise<JsonText> {
    const { span } = call.caller;
    if (!span) return this.requestPlain(link, call);
    const transport = this.settings.type === 'stdio' ? 'pipe' : 'tcp';
    const attributes = { 'gatehouse.server.id': this.id, 'network.transport': transport };
    return traceCall(this.tracing, call, { parent: span, attributes }, (params) =>
      this.requestPlain(link, { ...call, params }),
    );
  }

  private requestPlain(link: Link, { method, params, caller }: BackendCall): Promise<JsonText> {
    const answer = link.request({ method, params, caller, timeoutMs: this.settings.timeoutMs });
    this.availability.follow(link, answer);
    return answer;
  }

  private listed(listing: Listing): void {
    this.listing = listing;
    if (!this.availability.retired) this.events.listed(listing);
  }

  private stateChanged(): void {
    const { state } = this.supervisor;
    if (state !== 'connecting' && state !== 'ready') this.firstSync.complete();
    this.events.stateChanged();
  }

  private linked(link: Link): void {
    link.onNotification((notification) => this.notified(notification));
    link.onGap(() => this.sync.catchUp());
    this.log.apply(link);
    this.sync.attach(link);
    this.events.linkChanged(link);
  }

  private lost(link: Link, reason: Error): void {
    this.lastStderr = link.stderrTail();
    this.sync.detach();
    this.events.linkChanged(undefined);
    this.availability.lost();
    // Where the server has only forgotten us, who waits for a turn waits for the next link as well.
    if (!isSessionExpired(reason))
      this.gate.rejectQueued(serverUnavailable(this.id, reason.message, { cause: reason }));
  }

  private notified(notification: ServerNotification): void {
    if (this.sync.takeNotice(notification.method) || this.log.take(notification)) return;
    this.events.notified(notification);
  }

  /** What the process of one client says is for that client alone. */
  private ownNotified(notification: ServerNotification, owner: ClientSession): void {
    if (notification.method === 'notifications/resources/updated') this.events.notified(notification, owner);
    else this.log.take(notification);
  }
}

const callLimits = ({ isolation, concurrency, queue }: ServerConfig): CallLimits => ({
  concurrency: isolation === 'exclusive' ? 1 : concurrency,
  queue,
});
