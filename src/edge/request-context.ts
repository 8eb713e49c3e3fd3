import type { Span } from '@opentelemetry/api';
import type { ClientCapabilities, LoggingLevel, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { Cancellation } from '../lib/cancellation/cancellation.js';
import type { JsonText, Member } from '../lib/json-text/json-text.js';
import { shorten } from '../core/errors.js';
import { notificationKind } from '../core/notification-kind.js';
import { NOTHING, type Scope } from '../core/scope.js';
import { notificationMessage } from '../mcp/json-rpc.js';
import type { ClientRequestOptions, SessionContext } from '../mcp/mcp-context.js';
import type { Principal } from '../mcp/principal.js';
import type { Revision } from '../mcp/revisions/revision.js';
import type { Exchange } from './exchange.js';
import { passesLogLevel } from './logging-level.js';
import type { RequestDescription } from './running-requests.js';
import { publicSessionId, type Session } from './session.js';

/** The context of one message of a session. */
export class RequestContext implements SessionContext {
  readonly signal = new Cancellation();
  readonly revision: Revision;
  readonly principal: Principal;
  readonly namedProjects: readonly string[];
  paramsMembers: readonly Member[] | undefined;
  project: string | undefined;
  server: string | undefined;
  span: Span | undefined;
  scope: Scope = NOTHING;
  /** Called when the response is written. Undefined for most requests. */
  writtenListener: (() => void) | undefined;

  constructor(
    readonly session: Session,
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

  get key(): string {
    return this.session.id;
  }

  get linkOwner(): Session {
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

  onWritten(listener: () => void): void {
    const earlier = this.writtenListener;
    this.writtenListener = earlier
      ? () => {
          earlier();
          listener();
        }
      : listener;
  }

  abort(): void {
    this.signal.abort();
  }

  describe(): RequestDescription {
    const { session, principal, exchange } = this;
    return {
      method: shorten(this.method),
      session: publicSessionId(session),
      principal: principal.id,
      client: session.profile.clientLabel,
      runningMs: Math.round(performance.now() - (exchange?.startedAt ?? performance.now())),
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
    const write = (message: string): boolean => this.exchange?.send(message, { refusable: true }) ?? false;
    return this.session.requestsToClient.send(method, params, options, write);
  }
}
