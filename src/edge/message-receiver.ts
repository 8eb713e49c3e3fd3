import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { ListPage } from '../core/catalog/list-page.js';
import { GatewayError, shorten } from '../core/errors.js';
import { MemoryLimitError } from '../core/memory-limits.js';
import { SharedJson } from '../lib/json-text/json-text.js';
import { inputBudget } from '../lib/slices/iteration-budget.js';
import { JsonRpcError } from '../mcp/json-rpc-error.js';
import { errorMessage, type Inbound } from '../mcp/json-rpc.js';
import { McpDispatcher } from '../mcp/mcp.dispatcher.js';
import { endSpan, type TracedMethod, Tracing } from '../mcp/tracing.js';
import type { RequestOutcome } from '../metrics/metric-labels.js';
import { Metrics } from '../metrics/metrics.js';
import { Exchange } from './exchange.js';
import { InFlightRequests } from './in-flight-requests.js';
import { LONG_PARAMS, MemoryClaims } from './memory-claims.js';
import { RequestContext } from './request-context.js';
import { RequestLog } from './request-log.js';
import type { RequestSource } from './http-request.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

type Request = Extract<Inbound, { kind: 'request' }>;
type OneWayMessage = Extract<Inbound, { kind: 'notification' | 'response' }>;

/** Processes the messages of a POST. Requests are answered on the HTTP response; all other messages get no response. */
@Injectable()
export class MessageReceiver {
  readonly inFlight = new InFlightRequests();
  private readonly longParams = new MemoryClaims(LONG_PARAMS);

  constructor(
    private readonly dispatcher: McpDispatcher,
    private readonly sessions: Sessions,
    private readonly log: RequestLog,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
  ) {}

  receive(
    message: Request | OneWayMessage,
    session: Session,
    response: ServerResponse,
    source: RequestSource,
  ): void {
    if (message.kind === 'request') {
      void this.run(message, session, new Exchange(response, session, message.id), source);
      return;
    }
    this.processOneWay(message, session, source);
    acknowledge(response);
  }

  /** Processes the messages of a batch in their order, a long one in an iteration of the event loop of its own. */
  async receiveBatch(
    messages: readonly Inbound[],
    session: Session,
    response: ServerResponse,
    source: RequestSource,
  ): Promise<void> {
    const unanswered = messages.filter(({ kind }) => kind === 'request' || kind === 'invalid').length;
    const exchange = Exchange.ofBatch(response, session, unanswered);
    for (const message of messages) {
      if ('paramsMembers' in message) await inputBudget.runWhenDue(() => undefined);
      if (message.kind === 'request') void this.run(message, session, exchange, source);
      else if (message.kind === 'invalid')
        exchange.answer(errorMessage(message.id, JsonRpcError.from(this.invalidRequest(message)).text));
      else this.processOneWay(message, session, source);
    }
    if (unanswered === 0) acknowledge(response);
  }

  /** The error for an invalid message. Counts the message if a memory limit refuses it. */
  invalidRequest({ problem, memoryLimit }: Extract<Inbound, { kind: 'invalid' }>): GatewayError {
    if (memoryLimit) this.metrics.countMemoryLimit(memoryLimit);
    return new GatewayError('invalid-request', `Invalid request: ${problem}`);
  }

  /**
   * Creates a session, and adds it when the handler has accepted the request. The client gets the key of the session in a
   * response header.
   */
  async initialize(message: Request, response: ServerResponse, source: RequestSource): Promise<void> {
    const session = this.sessions.create(source.principal, source.quotaKey);
    const exchange = new Exchange(response, session, message.id);
    const context = contextOf(message, session, exchange, source);
    const count = this.inFlight.begin();
    try {
      this.sessions.requireCapacity(source.quotaKey);
      const result = await this.dispatcher.dispatchRequest(context, message.params);
      this.sessions.add(session);
      await this.sessions.waitUntilPersisted();
      response.setHeader('mcp-session-id', session.key!);
      await this.answerResult(context, exchange, result);
    } catch (error) {
      this.answerError(context, exchange, error);
    } finally {
      count.finish();
    }
  }

  private async run(
    message: Request,
    session: Session,
    exchange: Exchange,
    source: RequestSource,
  ): Promise<void> {
    const context = contextOf(message, session, exchange, source);
    let releaseParams: (() => void) | undefined;
    try {
      const limitError = session.unread.limitError();
      if (limitError) throw limitError;
      // Only long params have `paramsMembers`.
      if (message.paramsMembers)
        releaseParams = this.longParams.claim(session.quotaKey, message.paramsText!.length);
      session.beginRequest(context);
    } catch (error) {
      releaseParams?.();
      if (isLimitOfSession(error)) this.metrics.countRefusal('inFlightPerSession');
      this.answerError(context, exchange, error);
      return;
    }
    const count = this.inFlight.begin();
    if (this.tracing.isOn)
      context.span = this.tracing.startServerSpan(
        tracedMethod(message, session),
        message.params,
        source.headers,
      );
    try {
      const result = await this.dispatcher.dispatchRequest(context, message.params);
      const answering = this.answerResult(context, exchange, result);
      if (answering) await answering;
    } catch (error) {
      this.answerError(context, exchange, error);
    } finally {
      session.finishRequest(context);
      releaseParams?.();
      count.finish();
    }
  }

  private processOneWay(message: OneWayMessage, session: Session, source: RequestSource): void {
    if (message.kind === 'response') {
      session.requestsToClient.receive(message);
      return;
    }
    const context = contextOf(message, session, undefined, source);
    this.dispatcher.dispatchNotification(context, message.params).catch((error: unknown) => {
      this.log.logFailure(context, context.revision.errorOf(error));
    });
  }

  /** If the client has stopped reading responses, it gets an error instead of the result. */
  private answerResult(
    context: RequestContext,
    exchange: Exchange,
    result: unknown,
  ): Promise<void> | undefined {
    const limitError = context.session.unread.limitError();
    if (limitError) {
      this.answerError(context, exchange, limitError);
      return undefined;
    }
    let answering: Promise<void> | undefined;
    if (result instanceof SharedJson) {
      answering = exchange.answerShared(context.requestId!, result);
      if (result instanceof ListPage) context.session.listReads.pageServed(context.method, result);
    } else {
      const message = context.revision.resultMessage(context.requestId!, result);
      exchange.answer(message, context.writtenListener);
    }
    if (context.span) endSpan(context.span);
    const seconds = this.recordMetrics(context, exchange, 'ok');
    if (this.log.logsCalls) this.log.logCall(context, result, seconds);
    return answering;
  }

  private answerError(context: RequestContext, exchange: Exchange, error: unknown): void {
    const failure = context.revision.errorOf(error);
    if (failure.cause instanceof MemoryLimitError) this.metrics.countMemoryLimit(failure.cause.memoryLimit);
    exchange.answer(errorMessage(context.requestId, failure.text), context.writtenListener);
    endSpan(context.span, { type: failure.kind, code: failure.code });
    this.log.logFailure(context, failure, this.recordMetrics(context, exchange, 'error'));
  }

  /** Returns the duration of the request in seconds. */
  private recordMetrics(
    { method, server }: RequestContext,
    { startedAt }: Exchange,
    outcome: RequestOutcome,
  ): number {
    const seconds = (performance.now() - startedAt) / 1000;
    this.metrics.observeRequest(method, this.dispatcher.handles(method), outcome, seconds);
    if (server !== undefined) this.metrics.serverDurations.observe(server, outcome, seconds);
    return seconds;
  }
}

function contextOf(
  message: Extract<Inbound, { kind: 'request' | 'notification' }>,
  session: Session,
  exchange: Exchange | undefined,
  source: RequestSource,
): RequestContext {
  const id = message.kind === 'request' ? message.id : undefined;
  const { method, paramsText, paramsMembers } = message;
  const context = new RequestContext(session, exchange, method, id, paramsText, source.projects);
  context.paramsMembers = paramsMembers;
  return context;
}

const isLimitOfSession = (error: unknown): boolean =>
  error instanceof GatewayError && error.kind === 'limit-exceeded' && !(error instanceof MemoryLimitError);

/** Describes a request for its span. The session key is left out, because it is a secret. */
function tracedMethod({ id, method, params }: Request, session: Session): TracedMethod {
  const subject = params?.['name'] ?? params?.['uri'];
  return {
    method: shorten(method),
    name: typeof subject === 'string' ? shorten(subject) : undefined,
    attributes: {
      'jsonrpc.request.id': String(id),
      'mcp.protocol.version': session.revision.version,
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
    },
  };
}

function acknowledge(response: ServerResponse): void {
  response.writeHead(202, { 'content-length': 0 });
  response.end();
}
