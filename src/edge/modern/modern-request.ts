import type { ServerResponse } from 'node:http';
import type { Span } from '@opentelemetry/api';
import type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { GatewayError, shorten } from '../../core/errors.js';
import type { MemoryLimitError } from '../../core/memory-limits.js';
import { notificationKind } from '../../core/notification-kind.js';
import { NOTHING, type Scope } from '../../core/scope.js';
import { Cancellation } from '../../lib/cancellation/cancellation.js';
import type { JsonText, Member } from '../../lib/json-text/json-text.js';
import { clientLabel } from '../../mcp/client-profile.js';
import type { ClientEnvelope } from '../../mcp/envelope.js';
import type { JsonRpcError } from '../../mcp/json-rpc-error.js';
import { notificationMessage } from '../../mcp/json-rpc.js';
import { passesLogLevel } from '../../mcp/logging-level.js';
import type { HttpHeaders, ModernContext } from '../../mcp/mcp-context.js';
import type { Principal } from '../../mcp/principal.js';
import { MODERN_REVISION } from '../../mcp/revisions/modern.js';
import type { Revision } from '../../mcp/revisions/revision.js';
import type { RequestSource } from '../http-request.js';
import type { AnswerableRequest, RequestMessage } from '../request-runner.js';
import type { RequestDescription } from '../running-requests.js';
import { UnreadResponses } from '../unread-responses.js';
import { ModernExchange } from './modern-exchange.js';
import type { ModernResponses } from './modern-responses.js';

/** The notifications of a server that a client gets during its call. Others belong to `subscriptions/listen`. */
const CALL_NOTIFICATIONS: ReadonlySet<string> = new Set(['notifications/progress', 'notifications/message']);

/** One request of revision 2026-07-28, which stands for itself: its client, and its response. */
export class ModernRequest implements ModernContext, AnswerableRequest {
  readonly signal = new Cancellation();
  readonly revision: Revision = MODERN_REVISION;
  readonly requestId: RequestId;
  readonly method: string;
  readonly paramsText: string | undefined;
  readonly paramsMembers: readonly Member[] | undefined;
  readonly principal: Principal;
  readonly quotaKey: string;
  readonly namedProjects: readonly string[];
  readonly argumentHeaders: HttpHeaders;
  project: string | undefined;
  server: string | undefined;
  span: Span | undefined;
  scope: Scope = NOTHING;
  private readonly exchange: ModernExchange;
  private readonly unread: UnreadResponses;

  constructor(
    { id, method, paramsText, paramsMembers }: RequestMessage,
    private readonly envelope: ClientEnvelope,
    { principal, quotaKey, projects, headers }: RequestSource,
    response: ServerResponse,
    responses: ModernResponses,
  ) {
    this.requestId = id;
    this.method = method;
    this.paramsText = paramsText;
    this.paramsMembers = paramsMembers;
    this.principal = principal;
    this.quotaKey = quotaKey;
    this.namedProjects = projects;
    this.argumentHeaders = headers;
    this.unread = responses.unreadOf(quotaKey);
    this.exchange = new ModernExchange(response, responses.settings, this.unread, () => this.abort());
  }

  /** All requests of a principal share one place in the queue of a server: nothing else connects the requests of a client. */
  get key(): string {
    return this.quotaKey;
  }

  get capabilities(): ClientCapabilities {
    return this.envelope.capabilities;
  }

  get logLevel(): LoggingLevel | undefined {
    return this.envelope.logLevel;
  }

  get clientInfo(): Implementation | undefined {
    return this.envelope.clientInfo;
  }

  get clientLabel(): string | undefined {
    return clientLabel(this.envelope.clientInfo);
  }

  get startedAt(): number {
    return this.exchange.startedAt;
  }

  /** Log messages are sent only if the request has a log level. */
  notify(method: string, params: JsonText | undefined): void {
    if (!CALL_NOTIFICATIONS.has(method)) return;
    const isLog = method === 'notifications/message';
    if (isLog && (this.logLevel === undefined || !passesLogLevel(this.logLevel, method, params))) return;
    this.exchange.send(notificationMessage(method, params?.text), notificationKind(method));
  }

  sendRequest(method: string): Promise<JsonText> {
    return Promise.reject(
      new GatewayError('method-not-found', `The client of the call cannot be sent ${shorten(method)}`),
    );
  }

  takeStream(): ServerResponse {
    return this.exchange.takeStream();
  }

  abort(): void {
    this.signal.abort();
  }

  describe(): RequestDescription {
    return {
      method: shorten(this.method),
      principal: this.principal.id,
      client: this.clientLabel,
      runningMs: Math.round(performance.now() - this.startedAt),
    };
  }

  keepAlive(quietMs: number): void {
    this.exchange.keepAlive(quietMs);
  }

  limitError(): MemoryLimitError | undefined {
    return this.unread.limitError();
  }

  respond(result: unknown): Promise<void> | undefined {
    return this.exchange.answer(this, result);
  }

  respondWithError(failure: JsonRpcError): void {
    this.exchange.answerWithError(this.requestId, failure);
  }
}
