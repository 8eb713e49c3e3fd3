import { hash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { ClientCapabilities, Implementation, LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import type { Scope } from '../core/scope.js';
import { notificationMessage } from '../mcp/json-rpc.js';
import type { ClientRequestOptions, DeliverOptions } from '../mcp/mcp-context.js';
import { ANONYMOUS, type Principal } from '../mcp/principal.js';
import { LATEST_REVISION, type Revision } from '../mcp/revisions/revision.js';
import { notificationKind } from '../core/notification-kind.js';
import { sendRequestOutsideCalls } from './request-outside-calls.js';
import { RequestsToClient } from './requests-to-client.js';
import { eventFrame, type EventFrame } from '../mcp/event-frame.js';
import type { EventStream, StreamObserver } from './event-stream.js';
import type { ExchangeSession } from './exchange.js';
import { ListReads, type UnfinishedList } from './list-reads.js';
import { passesLogLevel } from '../mcp/logging-level.js';
import type { NotificationRecipient } from './notification-recipients.js';
import { RunningRequests, type RunningRequest } from './running-requests.js';
import { ScopedRecipient } from './scoped-recipient.js';
import { SessionProfile } from './session-profile.js';
import { SessionStreams, type ResumePoint, type SessionStreamLimits } from './session-streams.js';
import { UnreadResponses, type UnreadByPrincipal, type UnreadLimits } from './unread-responses.js';

interface SessionLimits extends SessionStreamLimits, UnreadLimits {
  readonly inFlightPerSession: number;
}

/** A session of the previous process that is restored. Times are milliseconds since the epoch. */
export interface PreviousSession {
  readonly id: string;
  readonly openedAt: number;
  /** The time of the last activity. */
  readonly seenAt: number;
}

interface SessionOptions {
  readonly observer?: StreamObserver;
  /** Absent for a new session. */
  readonly previous?: PreviousSession;
  readonly unreadByPrincipal?: UnreadByPrincipal;
}

/** The id of the session with this key. */
export const sessionIdOf = (key: string): string => hash('sha256', key, 'hex');

const PUBLIC_ID_DIGITS = 16;

/** The short form of `Session.id` in the admin API and in logs: its first digits. */
export const publicSessionId = ({ id }: { readonly id: string }): string => id.slice(0, PUBLIC_ID_DIGITS);

/** One MCP session, from `initialize` until it is closed: its scope, running requests and streams. */
export class Session extends ScopedRecipient implements NotificationRecipient, ExchangeSession {
  readonly kind = 'session';
  /**
   * The secret in Mcp-Session-Id. It is never logged or stored, so the key of a restored session is undefined until the
   * client sends its next request.
   */
  key: string | undefined;
  /** SHA-256 of the key. Not a secret, because it gives no access to the session. */
  readonly id: string;
  /** The key under which limits per principal count the session: see `Caller`. */
  quotaKey: string;
  /** The project in which the session was opened. */
  project: string | undefined;
  readonly openedAt: number;
  revision: Revision = LATEST_REVISION;
  readonly profile = new SessionProfile();
  readonly streams: SessionStreams;
  readonly unread: UnreadResponses;
  /** The stream that the client opens with GET, for messages that belong to no request. */
  private readonly standalone: EventStream;
  readonly requestsToClient: RequestsToClient;
  readonly requests: RunningRequests;
  readonly listReads = new ListReads();
  /** As `performance.now()`. */
  private lastActiveAt: number;
  /** Number of requests since the session was opened or restored, without `initialize`. */
  calls = 0;
  /** Whether the client has sent `notifications/initialized`. */
  isReady = false;
  logLevel: LoggingLevel | undefined;

  constructor(
    limits: SessionLimits,
    public principal: Principal = ANONYMOUS,
    { observer, previous, unreadByPrincipal }: SessionOptions = {},
  ) {
    super();
    const key = previous ? undefined : randomBytes(24).toString('base64url');
    this.key = key;
    this.id = previous?.id ?? sessionIdOf(key!);
    this.quotaKey = principal.id;
    this.openedAt = previous?.openedAt ?? Date.now();
    const idleMs = previous ? Date.now() - previous.seenAt : 0;
    this.lastActiveAt = performance.now() - idleMs;
    this.requestsToClient = new RequestsToClient(limits.streamQueue, () => this.capabilities);
    this.requests = new RunningRequests(limits.inFlightPerSession);
    this.unread = new UnreadResponses(limits, this, unreadByPrincipal, observer);
    this.streams = new SessionStreams(limits, observer, this.unread);
    this.standalone = this.streams.standalone;
  }

  get capabilities(): ClientCapabilities {
    return this.profile.capabilities;
  }

  get clientInfo(): Implementation | undefined {
    return this.profile.clientInfo;
  }

  get linkOwnerId(): string {
    return this.id;
  }

  /** The owner of the links that are not shared (`isolation: session`) is the session itself. */
  get linkOwner(): this {
    return this;
  }

  bindProject(project: string | undefined, scope: Scope): void {
    this.project = project;
    this.scope = scope;
  }

  /** The lists that the client has stopped reading before their last page. */
  get unfinishedLists(): readonly UnfinishedList[] {
    return this.listReads.unfinished;
  }

  /** Records activity of the client, which delays the expiry of the session. */
  touch(): void {
    this.lastActiveAt = performance.now();
  }

  /** Time since the last activity; 0 while the standalone stream is connected or a request is running. */
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

  notify(method: string, params: JsonText | undefined): void {
    if (!passesLogLevel(this.logLevel, method, params)) return;
    const frame = eventFrame(notificationMessage(method, params?.text), notificationKind(method));
    this.deliver(frame, { droppable: true });
  }

  /** Sends an event on the standalone stream. The event is queued while the client has no connection open. */
  deliver(frame: EventFrame, options: DeliverOptions): void {
    this.standalone.send(frame, options);
  }

  withdraw(isStale: (event: DeliverOptions) => boolean): void {
    this.standalone.withdraw(isStale);
  }

  sendRequest(
    method: string,
    params: JsonText | undefined,
    options: ClientRequestOptions,
  ): Promise<JsonText> {
    return sendRequestOutsideCalls(this, method, params, options);
  }

  /**
   * Connects the response to the standalone stream, or resumes a stream. The session does not expire while the
   * standalone stream is connected. `retryMs` tells the client when to reconnect. If it is undefined, the client
   * chooses the delay.
   */
  listen(response: ServerResponse, resume?: ResumePoint, retryMs?: number): void {
    response.once('close', () => this.touch());
    this.streams.listen(response, resume, this.revision.primer('', retryMs));
  }

  get hasStream(): boolean {
    return this.standalone.isConnected;
  }

  onMissedEvents(listener: (queuedKeys: ReadonlySet<string>) => void): () => void {
    return this.streams.onMissedEvents(listener);
  }

  /**
   * Called periodically. Writes comments to quiet streams, and checks whether the client reads lists to their last
   * page.
   */
  keepAlive(quietMs: number): void {
    this.streams.keepAlive(quietMs);
    this.requests.keepAlive(quietMs);
    this.listReads.checkNextPages();
  }

  /** A client that has not finished its initialization gets no list changes. */
  acceptsListChange(): boolean {
    return this.isReady;
  }

  /** Cancels the requests in flight and ends the streams. Idempotent. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.requests.abortAll();
    this.requestsToClient.close();
    this.unread.close();
    this.listReads.close();
    this.closeListeners.emit();
    this.standalone.end();
  }

  /** For the end of the process: like `close`, but the session stays open, so that the next process can restore it. */
  suspend(): void {
    this.requests.abortAll();
    this.requestsToClient.close();
    this.standalone.end();
  }
}
