import { hash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { GatewayError } from '../core/errors.js';
import type { ListPage } from '../core/catalog/list-page.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';
import { NOTHING, type Scope } from '../core/scope.js';
import { notificationMessage } from '../mcp/json-rpc.js';
import type { ClientRequestOptions, DeliverOptions } from '../mcp/mcp-context.js';
import { ANONYMOUS, type Principal } from '../mcp/principal.js';
import { LATEST_REVISION, type Revision } from '../mcp/revisions/revision.js';
import { notificationKind } from '../core/notification-kind.js';
import { RequestsToClient } from './requests-to-client.js';
import { eventFrame, type EventFrame } from '../mcp/event-frame.js';
import type { EventStream, StreamObserver } from './event-stream.js';
import type { Exchange, ExchangeSession } from './exchange.js';
import { ListReads, type UnfinishedList } from './list-reads.js';
import { passesLogLevel } from './logging-level.js';
import type { NotificationRecipient } from './notification-recipients.js';
import { RunningRequests, type RequestDescription, type RunningRequest } from './running-requests.js';
import { SessionProfile } from './session-profile.js';
import { SessionStreams, type ResumePoint, type SessionStreamLimits } from './session-streams.js';
import { UnreadResponses, type UnreadByPrincipal } from './unread-responses.js';

interface SessionLimits extends SessionStreamLimits {
  readonly inFlightPerSession: number;
  readonly unreadBytesPerSession: number;
  readonly unreadBytesPerPrincipal: number;
}

/** A session of the previous process. Times are milliseconds since the epoch. */
export interface PreviousSession {
  readonly id: string;
  readonly openedAt: number;
  readonly seenAt: number;
}

interface SessionOptions {
  readonly observer?: StreamObserver;
  /** Set for a session that is restored. */
  readonly previous?: PreviousSession;
  readonly unreadByPrincipal?: UnreadByPrincipal;
}

/** How long a request of a server waits for the client, which opens its standalone stream after `initialized`. */
const STREAM_WAIT_MS = 5000;

export const sessionIdOf = (key: string): string => hash('sha256', key, 'hex');

const PUBLIC_ID_DIGITS = 16;

/** The id of a session in the admin API and in logs: the first digits of its id. */
export const publicSessionId = ({ id }: Pick<Session, 'id'>): string => id.slice(0, PUBLIC_ID_DIGITS);

/** One MCP session, from `initialize` until it is closed: its scope, running requests and streams. */
export class Session implements NotificationRecipient, ExchangeSession {
  /**
   * The secret in Mcp-Session-Id, never logged or stored. For a restored session it is unknown until the client sends its
   * next request.
   */
  key: string | undefined;
  /** SHA-256 of the key. Not a secret, because it gives no access to the session. */
  readonly id: string;
  /** The key under which limits per principal count the session: see `Caller`. */
  quotaKey: string;
  /** The project in which the session was opened. */
  project: string | undefined;
  private currentScope: Scope = NOTHING;
  readonly openedAt: number;
  revision: Revision = LATEST_REVISION;
  readonly profile = new SessionProfile();
  readonly streams: SessionStreams;
  readonly unread: UnreadResponses;
  private readonly standalone: EventStream;
  readonly requestsToClient: RequestsToClient;
  private readonly requests: RunningRequests;
  private readonly closeListeners = new ListenerSet();
  private readonly scopeListeners = new ListenerSet();
  private readonly missedListeners = new ListenerSet<[queued: ReadonlySet<string>]>();
  private readonly unfinishedListListeners = new ListenerSet<[list: UnfinishedList]>();
  /** Absent until the client requests a list that has several pages. */
  private listReads: ListReads | undefined;
  private lastActiveAt: number;
  /** Requests since the session was opened or restored, without `initialize`. */
  calls = 0;
  isClosed = false;
  /** Whether the client has sent `notifications/initialized`. */
  isReady = false;
  logLevel: LoggingLevel | undefined;

  constructor(
    limits: SessionLimits,
    public principal: Principal = ANONYMOUS,
    { observer, previous, unreadByPrincipal }: SessionOptions = {},
  ) {
    const key = previous ? undefined : randomBytes(24).toString('base64url');
    this.key = key;
    this.id = previous?.id ?? sessionIdOf(key!);
    this.quotaKey = principal.id;
    this.openedAt = previous?.openedAt ?? Date.now();
    this.lastActiveAt = performance.now() - (previous ? Date.now() - previous.seenAt : 0);
    this.requestsToClient = new RequestsToClient(limits.streamQueue, () => this.capabilities);
    this.requests = new RunningRequests(limits.inFlightPerSession);
    this.unread = new UnreadResponses(
      limits,
      () => this.quotaKey,
      unreadByPrincipal,
      () => observer?.countStreamEnd('stuck'),
    );
    this.streams = new SessionStreams(limits, observer, this.unread);
    this.standalone = this.streams.standalone;
  }

  get capabilities(): ClientCapabilities {
    return this.profile.capabilities;
  }

  get clientInfo(): Implementation | undefined {
    return this.profile.clientInfo;
  }

  /** As a subscriber, the session owns the links that are not shared. */
  get session(): this {
    return this;
  }

  bindProject(project: string | undefined, scope: Scope): void {
    this.project = project;
    this.scope = scope;
  }

  /** The servers whose notifications the client receives. The project guard computes the scope of each request. */
  get scope(): Scope {
    return this.currentScope;
  }

  set scope(scope: Scope) {
    const hasChanged = scope.key !== this.currentScope.key;
    this.currentScope = scope;
    if (!hasChanged) return;
    this.withdraw(({ server }) => server !== undefined && !scope.allows(server));
    this.scopeListeners.emit();
  }

  /** Calls the listener when the client has stopped reading a list before its last page. */
  onUnfinishedList(listener: (list: UnfinishedList) => void): void {
    this.unfinishedListListeners.add(listener);
  }

  /** The lists that the client has not read to their end. */
  get unfinishedLists(): readonly UnfinishedList[] {
    return this.listReads?.unfinished ?? [];
  }

  pageServed(method: string, page: ListPage): void {
    if (page.hasMore) this.listReads ??= new ListReads((list) => this.unfinishedListListeners.emit(list));
    this.listReads?.pageServed(method, page);
  }

  onScopeChange(listener: () => void): () => void {
    return this.scopeListeners.add(listener);
  }

  touch(): void {
    this.lastActiveAt = performance.now();
  }

  /** Time since the last activity; 0 while a stream is open or a request is running. */
  get idleMs(): number {
    const isBusy = this.requests.size > 0 || this.standalone.isConnected;
    return isBusy ? 0 : performance.now() - this.lastActiveAt;
  }

  isIdleFor(ms: number): boolean {
    return this.idleMs >= ms;
  }

  get inFlight(): number {
    return this.requests.size;
  }

  beginRequest(request: RunningRequest): void {
    this.requests.add(request);
    this.calls++;
  }

  finishRequest(request: RunningRequest): void {
    this.requests.delete(request);
    this.touch();
  }

  describeRequests(): RequestDescription[] {
    return this.requests.describe();
  }

  cancelRequest(requestId: RequestId): void {
    this.requests.abort(requestId);
  }

  notify(method: string, params: JsonText | undefined): void {
    if (!passesLogLevel(this.logLevel, method, params)) return;
    const frame = eventFrame(notificationMessage(method, params?.text), notificationKind(method));
    this.deliver(frame, { droppable: true });
  }

  /** Sends an event on the standalone stream, where it is queued while the client has no connection open. */
  deliver(frame: EventFrame, options: DeliverOptions): void {
    this.standalone.send(frame, options);
  }

  withdraw(isStale: (event: DeliverOptions) => boolean): void {
    this.standalone.withdraw(isStale);
  }

  notifyOn(exchange: Exchange, method: string, params: JsonText | undefined): void {
    if (!passesLogLevel(this.logLevel, method, params)) return;
    const message = notificationMessage(method, params?.text);
    exchange.send(message, { droppable: true }, notificationKind(method));
  }

  /** While the client has no standalone stream, sends the request on the response stream of a running request. */
  async sendRequest(
    method: string,
    params: JsonText | undefined,
    options: ClientRequestOptions,
  ): Promise<JsonText> {
    const running = this.standalone.isConnected ? undefined : this.requests.latest;
    if (running) return running.sendRequest(method, params, options);
    if (!this.standalone.isConnected) await this.streams.whenListening(STREAM_WAIT_MS);
    if (options.signal.aborted) throw new GatewayError('cancelled', 'The request was cancelled');
    if (this.isClosed || !this.standalone.isConnected)
      throw new GatewayError('internal', 'The client has no open stream for a request');
    const write = (message: string): boolean =>
      this.standalone.send(eventFrame(message), { refusable: true });
    return this.requestsToClient.send(method, params, options, write);
  }

  /**
   * Opens the standalone stream or resumes a stream. An open stream keeps the session from expiring. `retryMs` is the
   * delay before the client reconnects; undefined leaves it to the client.
   */
  listen(response: ServerResponse, resume?: ResumePoint, retryMs?: number): void {
    response.once('close', () => this.touch());
    const { standalone } = this;
    // Without Last-Event-ID it is not known which events reached the client on an earlier connection.
    const queued = !resume && standalone.wasConnected ? standalone.queuedKeys : undefined;
    this.streams.listen(response, resume, this.revision.primer('', retryMs));
    if (queued) this.missedListeners.emit(queued);
  }

  get hasStream(): boolean {
    return this.standalone.isConnected;
  }

  onMissedEvents(listener: (queued: ReadonlySet<string>) => void): () => void {
    return this.missedListeners.add(listener);
  }

  /** Called periodically. */
  keepAlive(quietMs: number): void {
    this.streams.keepAlive(quietMs);
    this.requests.keepAlive(quietMs);
    this.listReads?.checkNextPages();
  }

  onClose(listener: () => void): () => void {
    if (this.isClosed) listener();
    return this.closeListeners.add(listener);
  }

  /** Idempotent. Requests in flight are cancelled, streams end. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.requests.abortAll();
    this.requestsToClient.close();
    this.unread.close();
    this.listReads?.close();
    this.closeListeners.emit();
    this.standalone.end();
  }

  /** For the end of the process: cancels the requests in flight and ends the streams. The session stays open. */
  suspend(): void {
    this.requests.abortAll();
    this.requestsToClient.close();
    this.standalone.end();
  }
}
