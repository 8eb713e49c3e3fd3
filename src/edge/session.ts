import { hash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { GatewayError } from '../core/errors.js';
import type { JsonText } from '../core/json-text.js';
import { NOTHING, type Scope } from '../core/scope.js';
import { notificationMessage, type Inbound } from '../mcp/json-rpc.js';
import type { AskOptions, DeliverOptions, Subscriber } from '../mcp/mcp-context.js';
import { ANONYMOUS, type Principal } from '../mcp/principal.js';
import { LATEST, type Revision } from '../mcp/revisions/revision.js';
import { notificationKind } from '../core/notification-kind.js';
import { canBeAsked, ClientQuestions } from './client-questions.js';
import { eventFrame, latestSequence, type EventFrame } from '../mcp/event-frame.js';
import { EventLog } from './event-log.js';
import { EventStream, type StreamObserver } from './event-stream.js';
import { openEventStream, type Exchange, type ExchangeHost } from './exchange.js';
import { isLogged, levelOf } from './log-level.js';

export interface SessionLimits {
  readonly streamQueue: number;
  readonly replayEvents: number;
  readonly inFlightPerSession: number;
}

/** Who a client said it is. */
export interface Introduction {
  readonly revision: Revision;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation | undefined;
}

/** What is known of a session from an earlier life of the gateway. Times are milliseconds since the epoch. */
export interface Past {
  readonly id: string;
  readonly openedAt: number;
  readonly seenAt: number;
}

/** What a session is called by everybody but its client. */
export const sessionIdOf = (key: string): string => hash('sha256', key, 'hex');

/** A request while it is being answered. */
export interface RunningRequest {
  readonly requestId: RequestId | undefined;
  abort(): void;
  /** Shows the client that it is being answered, if that has taken so long already. */
  keepAlive(quietMs: number): void;
}

/** Bytes of events that a session keeps for resumption. */
const REPLAY_BYTES = 1_048_576;

/** One client from its `initialize` to its end: what it may do, what it is doing, and how to reach it. */
export class Session implements Subscriber, ExchangeHost {
  /**
   * From a CSPRNG; whoever knows it holds the session, so it is never logged nor kept. Of a session from an earlier
   * life it is not known until the client comes back with it.
   */
  key: string | undefined;
  /** Made from the key, and opens nothing. */
  readonly id: string;
  /** The project it was opened in; it never leaves it. */
  project: string | undefined;
  private seen: Scope = NOTHING;
  readonly openedAt: number;
  private introduction: Introduction = { revision: LATEST, capabilities: {}, clientInfo: undefined };
  private readonly log: EventLog;
  private readonly standing: EventStream;
  private readonly streams = new Map<string, EventStream>();
  private readonly questions = new ClientQuestions();
  private readonly requests = new Map<RequestId, RunningRequest>();
  private readonly closeListeners = new Set<() => void>();
  private readonly scopeListeners = new Set<() => void>();
  private lastStream = 0;
  private lastSeen: number;
  /** Ids up to this are of events that it never had, or had in an earlier life. */
  private readonly bornAfter = latestSequence();
  private keptAliveAt = performance.now();
  private closed = false;
  /** The client has said that it is ready to hear from us. */
  isReady = false;
  logLevel: LoggingLevel | undefined;

  constructor(
    private readonly limits: SessionLimits,
    public principal: Principal = ANONYMOUS,
    private readonly observer?: StreamObserver,
    past?: Past,
  ) {
    const key = past ? undefined : randomBytes(24).toString('base64url');
    this.key = key;
    this.id = past?.id ?? sessionIdOf(key!);
    this.openedAt = past?.openedAt ?? Date.now();
    this.lastSeen = performance.now() - (past ? Date.now() - past.seenAt : 0);
    this.log = new EventLog(limits.replayEvents, REPLAY_BYTES);
    this.standing = new EventStream('', this.log, { waiting: limits.streamQueue }, observer);
  }

  get revision(): Revision {
    return this.introduction.revision;
  }

  get capabilities(): ClientCapabilities {
    return this.introduction.capabilities;
  }

  get clientInfo(): Implementation | undefined {
    return this.introduction.clientInfo;
  }

  get primesStreams(): boolean {
    return this.revision.primesStreams;
  }

  /** Fixes the project; what is seen through it may change later. */
  enter(project: string | undefined, scope: Scope): void {
    this.project = project;
    this.scope = scope;
  }

  /** What it hears of. Each request settles its own. */
  get scope(): Scope {
    return this.seen;
  }

  set scope(scope: Scope) {
    const changed = scope.key !== this.seen.key;
    this.seen = scope;
    if (changed) for (const listener of this.scopeListeners) listener();
  }

  onScopeChange(listener: () => void): () => void {
    this.scopeListeners.add(listener);
    return () => this.scopeListeners.delete(listener);
  }

  introduce(introduction: Introduction): void {
    this.introduction = introduction;
  }

  touch(): void {
    this.lastSeen = performance.now();
  }

  /** For how long nothing was heard; not at all while something is open or under way. */
  get idleMs(): number {
    const busy = this.requests.size > 0 || this.standing.isConnected;
    return busy ? 0 : performance.now() - this.lastSeen;
  }

  isIdleFor(ms: number): boolean {
    return this.idleMs >= ms;
  }

  get inFlight(): number {
    return this.requests.size;
  }

  /** Streams that the client reads right now. */
  get openStreams(): number {
    return [this.standing, ...this.streams.values()].filter((stream) => stream.isConnected).length;
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

  /** Puts an event on the standing stream; it waits there, within bounds, for a client that has none open. */
  deliver(frame: EventFrame, options: DeliverOptions): void {
    this.standing.send(frame, options);
  }

  notifyOn(exchange: Exchange, method: string, params: JsonText | undefined): void {
    if (!this.wants(method, params)) return;
    const options = { droppable: true, kind: notificationKind(method) };
    exchange.send(notificationMessage(method, params?.text), options);
  }

  ask(method: string, params: JsonText | undefined, options: AskOptions): Promise<JsonText> {
    if (!this.standing.isConnected)
      return Promise.reject(
        new GatewayError('internal', 'The client has no stream on which it could be asked'),
      );
    return this.askOn((message) => this.deliver(eventFrame(message), {}), method, params, options);
  }

  async askOn(
    send: (message: string) => void,
    method: string,
    params: JsonText | undefined,
    options: AskOptions,
  ): Promise<JsonText> {
    if (!canBeAsked(this.capabilities, method, params))
      throw new GatewayError('method-not-found', `The client does not support ${method}`);
    return this.questions.ask(method, params, options, send);
  }

  answer(response: Extract<Inbound, { kind: 'response' }>): boolean {
    return this.questions.answer(response);
  }

  questionProgress(token: unknown, params: string): void {
    this.questions.progress(token, params);
  }

  openStream(): EventStream {
    const name = (++this.lastStream).toString(36);
    const stream = new EventStream(name, this.log, { waiting: this.limits.streamQueue }, this.observer);
    this.streams.set(stream.name, stream);
    return stream;
  }

  closeStream(stream: EventStream): void {
    if (stream.isDone) this.streams.delete(stream.name);
  }

  /** Listens for the client: on the standing stream, or on the stream that broke off. */
  listen(response: ServerResponse, resume?: { stream: string; sequence: number }): void {
    openEventStream(response);
    // A client that listens is there, however long it has had nothing to say.
    response.once('close', () => this.touch());
    const isOurs = resume !== undefined && this.isOurs(resume.sequence);
    if (!resume?.stream) {
      // What a client has not seen since an earlier life is all there is.
      this.standing.connect(response, resume && (isOurs ? resume.sequence : 0));
      return;
    }
    const stream = isOurs ? this.streams.get(resume.stream) : undefined;
    if (stream) {
      stream.connect(response, resume.sequence);
      this.closeStream(stream);
      return;
    }
    // A stream of an earlier life is over, whatever has its name now.
    if (isOurs)
      for (const frame of this.log.after(resume.stream, resume.sequence)) response.write(frame.bytes);
    response.end();
  }

  /** Whether an event of this life may have had it; that of an earlier one may be ahead where a clock was set back. */
  private isOurs(sequence: number): boolean {
    return sequence > this.bornAfter && sequence <= latestSequence();
  }

  /** Called now and then: keeps quiet streams alive and lets go of readers that are stuck. */
  tend(quietMs: number, stuckMs: number): void {
    const now = performance.now();
    this.standing.disconnectIfStuck(stuckMs);
    if (now - this.keptAliveAt >= quietMs) {
      this.keptAliveAt = now;
      this.standing.keepAlive();
    }
    for (const stream of this.streams.values()) {
      stream.disconnectIfStuck(stuckMs);
      this.closeStream(stream);
    }
    for (const request of this.requests.values()) request.keepAlive(quietMs);
  }

  onClose(listener: () => void): () => void {
    if (this.closed) listener();
    this.closeListeners.add(listener);
    return () => this.closeListeners.delete(listener);
  }

  /** Idempotent. Requests in flight are cancelled, streams end. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    for (const context of this.requests.values()) context.abort();
    this.questions.close();
    for (const listener of this.closeListeners) listener();
    this.endStanding();
  }

  endStanding(): void {
    this.standing.end();
  }

  private wants(method: string, params: JsonText | undefined): boolean {
    return (
      method !== 'notifications/message' || (params !== undefined && isLogged(levelOf(params), this.logLevel))
    );
  }
}
