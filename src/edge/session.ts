import { hash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { GatewayError } from '../core/errors.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import { NOTHING, type Scope } from '../core/scope.js';
import { notificationMessage, type Inbound } from '../mcp/json-rpc.js';
import type { ClientRequestOptions, DeliverOptions } from '../mcp/mcp-context.js';
import { ANONYMOUS, type Principal } from '../mcp/principal.js';
import { LATEST, type Revision } from '../mcp/revisions/revision.js';
import { notificationKind } from '../core/notification-kind.js';
import { supportsRequest, ClientRequests } from './client-requests.js';
import { eventFrame, type EventFrame } from '../mcp/event-frame.js';
import type { EventStream, StreamObserver } from './event-stream.js';
import type { Exchange, ExchangeHost } from './exchange.js';
import { isAtLeast, loggingLevelIn } from './logging-level.js';
import type { NotificationRecipient } from './notification-recipients.js';
import { SessionStreams, type ResumePoint, type SessionStreamLimits } from './session-streams.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

export interface SessionLimits extends SessionStreamLimits {
  readonly inFlightPerSession: number;
}

/** What the client declared in `initialize`. */
export interface ClientProfile {
  readonly revision: Revision;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation | undefined;
}

/** A session of the previous process. Times are milliseconds since the epoch. */
export interface PreviousSession {
  readonly id: string;
  readonly openedAt: number;
  readonly seenAt: number;
}

/** The id of a session is the hash of its key. */
export const sessionIdOf = (key: string): string => hash('sha256', key, 'hex');

/** A request that is not answered yet. */
export interface RunningRequest {
  readonly requestId: RequestId | undefined;
  abort(): void;
  /** Writes a keep-alive comment if the request has run for `quietMs`. */
  keepAlive(quietMs: number): void;
}

/** The state of one client from `initialize` to its end: scope, running requests and streams. */
export class Session implements NotificationRecipient, ExchangeHost {
  /**
   * The secret in Mcp-Session-Id, never logged or stored. For a restored session it is unknown until the client sends its
   * next request.
   */
  key: string | undefined;
  /** Not a secret: gives no access to the session. */
  readonly id: string;
  /** The project in which it was opened. */
  project: string | undefined;
  private currentScope: Scope = NOTHING;
  readonly openedAt: number;
  private profile: ClientProfile = { revision: LATEST, capabilities: {}, clientInfo: undefined };
  readonly streams: SessionStreams;
  private readonly standalone: EventStream;
  private readonly clientRequests = new ClientRequests();
  private readonly requests = new Map<RequestId, RunningRequest>();
  private readonly closeListeners = new ListenerSet();
  private readonly scopeListeners = new ListenerSet();
  private lastActiveAt: number;
  private closed = false;
  /** The client has sent `notifications/initialized`. */
  isReady = false;
  logLevel: LoggingLevel | undefined;

  constructor(
    private readonly limits: SessionLimits,
    public principal: Principal = ANONYMOUS,
    observer?: StreamObserver,
    past?: PreviousSession,
  ) {
    const key = past ? undefined : randomBytes(24).toString('base64url');
    this.key = key;
    this.id = past?.id ?? sessionIdOf(key!);
    this.openedAt = past?.openedAt ?? Date.now();
    this.lastActiveAt = performance.now() - (past ? Date.now() - past.seenAt : 0);
    this.streams = new SessionStreams(limits, observer);
    this.standalone = this.streams.standalone;
  }

  get revision(): Revision {
    return this.profile.revision;
  }

  get capabilities(): ClientCapabilities {
    return this.profile.capabilities;
  }

  get clientInfo(): Implementation | undefined {
    return this.profile.clientInfo;
  }

  get session(): this {
    return this;
  }

  bindProject(project: string | undefined, scope: Scope): void {
    this.project = project;
    this.scope = scope;
  }

  /** Limits notifications. Requests have a scope of their own. */
  get scope(): Scope {
    return this.currentScope;
  }

  set scope(scope: Scope) {
    const changed = scope.key !== this.currentScope.key;
    this.currentScope = scope;
    if (!changed) return;
    this.withdraw(({ server }) => server !== undefined && !scope.allows(server));
    this.scopeListeners.emit();
  }

  onScopeChange(listener: () => void): () => void {
    return this.scopeListeners.add(listener);
  }

  initialize(introduction: ClientProfile): void {
    this.profile = introduction;
  }

  touch(): void {
    this.lastActiveAt = performance.now();
  }

  /** Time since the last activity; 0 while a stream is open or a request is running. */
  get idleMs(): number {
    const busy = this.requests.size > 0 || this.standalone.isConnected;
    return busy ? 0 : performance.now() - this.lastActiveAt;
  }

  isIdleFor(ms: number): boolean {
    return this.idleMs >= ms;
  }

  get inFlight(): number {
    return this.requests.size;
  }

  begin(context: RunningRequest): void {
    const id = context.requestId!;
    if (this.requests.has(id))
      throw new GatewayError('invalid-request', `A request with the id ${JSON.stringify(id)} is in flight`);
    const limit = this.limits.inFlightPerSession;
    if (this.requests.size >= limit)
      throw new GatewayError(
        'limit-exceeded',
        `LimitExceeded: ${limit} requests are in flight in this session`,
        {
          code: 'LimitExceeded',
          limit,
        },
      );
    this.requests.set(id, context);
  }

  finish(context: RunningRequest): void {
    this.requests.delete(context.requestId!);
    this.touch();
  }

  cancel(requestId: RequestId): void {
    this.requests.get(requestId)?.abort();
  }

  notify(method: string, params: JsonText | undefined): void {
    if (!this.wants(method, params)) return;
    const frame = eventFrame(notificationMessage(method, params?.text));
    this.deliver(frame, { droppable: true, kind: notificationKind(method) });
  }

  /** Sends an event on the standalone stream, where it is queued while the client has no connection open. */
  deliver(frame: EventFrame, options: DeliverOptions): void {
    this.standalone.send(frame, options);
  }

  withdraw(isStale: (event: DeliverOptions) => boolean): void {
    this.standalone.withdraw(isStale);
  }

  notifyOn(exchange: Exchange, method: string, params: JsonText | undefined): void {
    if (!this.wants(method, params)) return;
    const options = { droppable: true, kind: notificationKind(method) };
    exchange.send(notificationMessage(method, params?.text), options);
  }

  sendRequest(
    method: string,
    params: JsonText | undefined,
    options: ClientRequestOptions,
  ): Promise<JsonText> {
    if (!this.standalone.isConnected)
      return Promise.reject(new GatewayError('internal', 'The client has no open stream for a request'));
    return this.sendRequestOn((message) => this.deliver(eventFrame(message), {}), method, params, options);
  }

  async sendRequestOn(
    send: (message: string) => void,
    method: string,
    params: JsonText | undefined,
    options: ClientRequestOptions,
  ): Promise<JsonText> {
    if (!supportsRequest(this.capabilities, method, params))
      throw new GatewayError('method-not-found', `The client does not support ${method}`);
    return this.clientRequests.send(method, params, options, send);
  }

  receiveResponse(response: Extract<Inbound, { kind: 'response' }>): boolean {
    return this.clientRequests.receive(response);
  }

  receiveProgress(token: unknown, params: string): void {
    this.clientRequests.receiveProgress(token, params);
  }

  /** An open stream keeps the session from expiring. */
  listen(response: ServerResponse, resume?: ResumePoint): void {
    response.once('close', () => this.touch());
    this.streams.listen(response, resume);
  }

  /** Called periodically. */
  keepAlive(quietMs: number): void {
    this.streams.keepAlive(quietMs);
    for (const request of this.requests.values()) request.keepAlive(quietMs);
  }

  onClose(listener: () => void): () => void {
    if (this.closed) listener();
    return this.closeListeners.add(listener);
  }

  /** Idempotent. Requests in flight are cancelled, streams end. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const context of this.requests.values()) context.abort();
    this.clientRequests.close();
    this.closeListeners.emit();
    this.endNotifications();
  }

  endNotifications(): void {
    this.standalone.end();
  }

  private wants(method: string, params: JsonText | undefined): boolean {
    return (
      method !== 'notifications/message' ||
      (params !== undefined && isAtLeast(loggingLevelIn(params), this.logLevel))
    );
  }
}
