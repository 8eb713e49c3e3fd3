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
import { JsonText, SharedJson, type Member } from '../../lib/json-text/json-text.js';
import { clientLabel } from '../../mcp/client-profile.js';
import { lacksProgressToken, metaMember, type ClientEnvelope } from '../../mcp/envelope.js';
import type { JsonRpcError } from '../../mcp/json-rpc-error.js';
import { notificationMessage } from '../../mcp/json-rpc.js';
import { passesLogLevel } from '../../mcp/logging-level.js';
import { INPUT_METHODS, inputResponsesIn } from '../../mcp/input-required.js';
import type { ClientRequestOptions, ModernContext } from '../../mcp/mcp-context.js';
import { progressTokenOf, progressWithToken } from '../../mcp/params.js';
import type { Principal } from '../../mcp/principal.js';
import { MODERN_REVISION } from '../../mcp/revisions/modern.js';
import type { Revision } from '../../mcp/revisions/revision.js';
import type { HttpHeaders } from '../../mcp/standard-headers.js';
import type { RequestSource } from '../http-request.js';
import type { AnswerableRequest, RequestMessage } from '../request-runner.js';
import { subjectOf } from '../request-subject.js';
import { missingCapabilities } from '../requests-to-client.js';
import type { RequestDescription } from '../running-requests.js';
import { UnreadResponses } from '../unread-responses.js';
import { ModernExchange } from './modern-exchange.js';
import type { SessionlessLinkOwner } from './sessionless-link-owner.js';
import { SESSION_HANDLE_KEY, type LinkOwners } from './link-owners.js';
import type { ModernResponses } from './modern-responses.js';
import type { ParkableCall, QuestionedCall } from './parkable-call.js';
import type { ParkedCalls } from './parked-calls.js';
import { requestDigest } from './request-digest.js';

/** The notifications of servers that a client gets during its call. It gets all others on its listen streams. */
const CALL_NOTIFICATIONS: ReadonlySet<string> = new Set(['notifications/progress', 'notifications/message']);

/** The value of `leaveInFlight` while a request does not count as in flight. */
export const notInFlight = (): void => {};

/** The services that all requests of this revision use. */
export interface ModernServices {
  readonly responses: ModernResponses;
  readonly parkedCalls: Pick<ParkedCalls, 'begin' | 'end'>;
  readonly linkOwners: Pick<LinkOwners, 'idOf' | 'of'>;
}

/**
 * Maximum length of the result of a parked call, which waits until the client repeats its request. A longer one is
 * dropped.
 */
const MAX_HELD_LENGTH = 1_048_576;

/**
 * One request of revision 2026-07-28 while it is processed. Its envelope has the capabilities of the client, because
 * there is no session. If the server asks the client a question, the request is parked (`ParkableCall`): the response
 * has the question, and the request continues when the client repeats it with the answer (`resume`).
 */
export class ModernRequest implements ModernContext, AnswerableRequest, QuestionedCall {
  readonly signal = new Cancellation();
  readonly revision: Revision = MODERN_REVISION;
  requestId: RequestId;
  readonly method: string;
  readonly paramsText: string | undefined;
  readonly paramsMembers: readonly Member[] | undefined;
  principal: Principal;
  readonly quotaKey: string;
  readonly namedProjects: readonly string[];
  readonly argumentHeaders: HttpHeaders;
  readonly sessionHandle: unknown;
  readonly lacksProgressToken: boolean;
  project: string | undefined;
  server: string | undefined;
  span: Span | undefined;
  scope: Scope = NOTHING;
  /** Ends the counting of the request as in flight. Does nothing if the request is not counted. */
  leaveInFlight: () => void = notInFlight;
  readonly startedAt = performance.now();
  missingCapabilities: ClientCapabilities | undefined;
  private exchange: ModernExchange;
  private unread: UnreadResponses;
  /** Set when a link that is not shared is used for the first time. */
  private owner: SessionlessLinkOwner | undefined;
  /** Set when the server asks the first question. */
  private parkable: ParkableCall | undefined;
  /** Writes the response. Set if the server has finished the call while it was parked. */
  private writeHeld: (() => Promise<void> | undefined) | undefined;
  /** Set by `resume`: the progress token of the repeated request. The server reports progress with the first token. */
  private retryToken: { readonly text: string | undefined } | undefined;

  constructor(
    { id, method, params, paramsText, paramsMembers }: RequestMessage,
    private envelope: ClientEnvelope,
    { principal, quotaKey, projects, headers }: RequestSource,
    response: ServerResponse,
    private readonly services: ModernServices,
  ) {
    const { responses } = services;
    this.requestId = id;
    this.method = method;
    this.paramsText = paramsText;
    this.paramsMembers = paramsMembers;
    this.principal = principal;
    this.quotaKey = quotaKey;
    this.namedProjects = projects;
    this.argumentHeaders = headers;
    this.sessionHandle = metaMember(params, SESSION_HANDLE_KEY);
    this.lacksProgressToken = lacksProgressToken(params, paramsMembers);
    this.unread = responses.unreadOf(this);
    this.exchange = new ModernExchange(response, responses.settings, this.unread, this);
  }

  /**
   * The key in the fair queue of a server. All requests of a principal have one key: without sessions, the gateway cannot tell
   * which of them are from the same client.
   */
  get key(): string {
    return this.quotaKey;
  }

  get linkOwnerId(): string | undefined {
    return this.services.linkOwners.idOf(this);
  }

  get linkOwner(): SessionlessLinkOwner | undefined {
    if (this.owner) return this.owner;
    const owner = this.services.linkOwners.of(this);
    owner?.begin(this);
    return (this.owner = owner);
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

  get isParked(): boolean {
    return this.parkable?.isParked ?? false;
  }

  /** Sends progress, and log messages if the request has a log level. All other notifications are dropped. */
  notify(method: string, params: JsonText | undefined): void {
    if (!CALL_NOTIFICATIONS.has(method)) return;
    const isLog = method === 'notifications/message';
    if (isLog && (this.logLevel === undefined || !passesLogLevel(this.logLevel, method, params))) return;
    const text = isLog ? params?.text : this.progressOf(params);
    if (text !== undefined) this.exchange.send(notificationMessage(method, text), notificationKind(method));
  }

  /**
   * Asks the client in the response. Resolves with the answer when the client has repeated the request with the answer.
   */
  sendRequest(
    method: string,
    params: JsonText | undefined,
    { signal }: ClientRequestOptions,
  ): Promise<JsonText> {
    const missing = missingCapabilities(this.capabilities, method, params);
    if (missing) this.missingCapabilities = missing;
    if (missing || !INPUT_METHODS.has(this.method)) return Promise.reject(cannotBeAsked(method));
    this.parkable ??= this.services.parkedCalls.begin(this);
    return this.parkable.ask({ method, params }, signal);
  }

  digest(): Buffer {
    return requestDigest(this);
  }

  park(result: JsonText): void {
    void this.exchange.answer(this, result);
    this.leaveInFlight();
  }

  fail(error: GatewayError): void {
    this.signal.abort(error);
  }

  resume(retry: ModernRequest, enterInFlight: () => void): void {
    const token = progressTokenOf(retry.paramsText, retry.paramsMembers);
    // If a limit is reached, this throws before anything has changed.
    enterInFlight();
    this.exchange = retry.exchange;
    this.unread = retry.unread;
    this.envelope = retry.envelope;
    this.requestId = retry.requestId;
    this.principal = retry.principal;
    this.retryToken = { text: token };
    retry.signal.addEventListener('abort', () => this.abort());
    this.parkable!.resume(inputResponsesIn(retry.paramsText));
    if (this.writeHeld) void this.writeHeldResponse(this.writeHeld);
  }

  takeStream(): ServerResponse {
    return this.exchange.takeStream();
  }

  abort(): void {
    this.signal.abort();
  }

  describe(now: number): RequestDescription {
    const { server } = this;
    return {
      method: shorten(this.method),
      ...subjectOf(this),
      ...(server !== undefined && { server }),
      principal: this.principal.id,
      client: this.clientLabel,
      runningMs: Math.round(now - this.startedAt),
    };
  }

  keepAlive(quietMs: number): void {
    this.exchange.keepAlive(quietMs);
  }

  limitError(): MemoryLimitError | undefined {
    return this.unread.limitError();
  }

  respond(result: unknown): Promise<void> | undefined {
    if (lengthOf(result) > MAX_HELD_LENGTH && this.isParked) return this.respondWithError(heldTooLong());
    return this.write(() => this.exchange.answer(this, result));
  }

  respondWithError(failure: JsonRpcError): undefined {
    void this.write(() => {
      this.exchange.answerWithError(this.requestId, failure);
      return undefined;
    });
  }

  /** Calls `writeResponse`. If the call is parked, `writeResponse` is called when the client repeats its request. */
  private write(writeResponse: () => Promise<void> | undefined): Promise<void> | undefined {
    const { parkable } = this;
    this.owner?.end(this);
    if (parkable) {
      parkable.finish();
      if (parkable.isParked) {
        this.writeHeld = writeResponse;
        return undefined;
      }
      this.services.parkedCalls.end(parkable);
    }
    return writeResponse();
  }

  private async writeHeldResponse(writeResponse: () => Promise<void> | undefined): Promise<void> {
    this.services.parkedCalls.end(this.parkable!);
    await writeResponse();
    this.leaveInFlight();
  }

  /**
   * The params of a progress notification with the token of the latest request; undefined if that request has no token.
   */
  private progressOf(params: JsonText | undefined): string | undefined {
    if (!this.retryToken || !params) return params?.text;
    const { text } = this.retryToken;
    return text === undefined ? undefined : progressWithToken(params.text, text);
  }
}

const lengthOf = (result: unknown): number =>
  result instanceof SharedJson ? result.bytes.length : result instanceof JsonText ? result.text.length : 0;

const heldTooLong = (): JsonRpcError =>
  MODERN_REVISION.errorOf(
    new GatewayError(
      'response-lost',
      `The server answered while the call waited for its client, with more than ${MAX_HELD_LENGTH} characters`,
    ),
  );

const cannotBeAsked = (method: string): GatewayError =>
  new GatewayError('method-not-found', `The client of the call cannot be sent ${shorten(method)}`);
