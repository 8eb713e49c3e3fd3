import type { Span } from '@opentelemetry/api';
import type { ClientCapabilities, LoggingLevel, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { Cancellation } from '../lib/cancellation/cancellation.js';
import { SharedJson, type JsonText, type Member } from '../lib/json-text/json-text.js';
import { ListPage } from '../core/catalog/list-page.js';
import { shorten } from '../core/errors.js';
import type { MemoryLimitError } from '../core/memory-limits.js';
import { notificationKind } from '../core/notification-kind.js';
import { NOTHING, type Scope } from '../core/scope.js';
import type { OutgoingMessage } from '../mcp/event-frame.js';
import type { JsonRpcError } from '../mcp/json-rpc-error.js';
import { errorMessage, notificationMessage, resultMessage } from '../mcp/json-rpc.js';
import type { ClientRequestOptions, SessionContext } from '../mcp/mcp-context.js';
import type { Principal } from '../mcp/principal.js';
import type { Revision } from '../mcp/revisions/revision.js';
import type { Exchange } from './exchange.js';
import { passesLogLevel } from '../mcp/logging-level.js';
import type { AnswerableRequest } from './request-runner.js';
import { subjectOf } from './request-subject.js';
import type { RequestDescription } from './running-requests.js';
import { publicSessionId, type Session } from './session.js';

/** A request or notification of a session while it is processed. Writes the response to the exchange. */
export class RequestContext implements SessionContext, AnswerableRequest {
  readonly signal = new Cancellation();
  readonly revision: Revision;
  readonly principal: Principal;
  readonly namedProjects: readonly string[];
  paramsMembers: readonly Member[] | undefined;
  project: string | undefined;
  server: string | undefined;
  span: Span | undefined;
  scope: Scope = NOTHING;
  /** Called when the response has been written. Most requests have no listener. */
  writtenListener: (() => void) | undefined;

  constructor(
    readonly session: Session,
    /** Undefined for a notification. */
    private readonly exchange: Exchange | undefined,
    readonly method: string,
    readonly requestId: RequestId | undefined,
    readonly paramsText: string | undefined,
    /** The projects that the HTTP request names. */
    projects: readonly string[] = [],
  ) {
    this.revision = session.revision;
    this.principal = session.principal;
    this.namedProjects = session.project === undefined ? projects : [...projects, session.project];
  }

  /** The key in the fair queue of a server. */
  get key(): string {
    return this.session.id;
  }

  get linkOwner(): Session {
    return this.session;
  }

  get subscriber(): Session {
    return this.session;
  }

  get quotaKey(): string {
    return this.session.quotaKey;
  }

  get capabilities(): ClientCapabilities {
    return this.session.capabilities;
  }

  get logLevel(): LoggingLevel | undefined {
    return this.session.logLevel;
  }

  get clientLabel(): string | undefined {
    return this.session.profile.clientLabel;
  }

  get startedAt(): number {
    return this.exchange?.startedAt ?? performance.now();
  }

  limitError(): MemoryLimitError | undefined {
    return this.session.unread.limitError();
  }

  respond(result: unknown): Promise<void> | undefined {
    const { exchange, session, method, requestId } = this;
    if (!(result instanceof SharedJson)) {
      exchange?.answer(resultMessage(requestId!, result), this.writtenListener);
      return undefined;
    }
    const responding = exchange?.answerShared(requestId!, result);
    if (result instanceof ListPage) session.listReads.pageServed(method, result);
    return responding;
  }

  respondWithError({ text }: JsonRpcError): void {
    this.exchange?.answer(errorMessage(this.requestId, text), this.writtenListener);
  }

  /** The listener is not called if the result of the request is a `SharedJson`. */
  onWritten(listener: () => void): void {
    const earlierListener = this.writtenListener;
    this.writtenListener = earlierListener
      ? () => {
          earlierListener();
          listener();
        }
      : listener;
  }

  abort(): void {
    this.signal.abort();
  }

  describe(now: number): RequestDescription {
    const { session, principal, server } = this;
    return {
      method: shorten(this.method),
      ...subjectOf(this),
      ...(server !== undefined && { server }),
      session: publicSessionId(session),
      principal: principal.id,
      client: this.clientLabel,
      runningMs: Math.round(now - this.startedAt),
    };
  }

  keepAlive(quietMs: number): void {
    const { exchange } = this;
    if (exchange && performance.now() - exchange.startedAt >= quietMs) exchange.keepAlive();
  }

  notify(method: string, params: JsonText | undefined): void {
    if (!passesLogLevel(this.logLevel, method, params)) return;
    const message = notificationMessage(method, params?.text);
    this.exchange?.send(message, { droppable: true }, notificationKind(method));
  }

  sendRequest(
    method: string,
    params: JsonText | undefined,
    options: ClientRequestOptions,
  ): Promise<JsonText> {
    const write = (message: OutgoingMessage): boolean =>
      this.exchange?.send(message, { refusable: true }) ?? false;
    return this.session.requestsToClient.send(method, params, options, write);
  }
}
