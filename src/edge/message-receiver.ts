import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../core/errors.js';
import { MemoryLimitError } from '../core/memory-limits.js';
import { inputBudget } from '../lib/slices/iteration-budget.js';
import { JsonRpcError } from '../mcp/json-rpc-error.js';
import { errorMessage, type Inbound } from '../mcp/json-rpc.js';
import { McpDispatcher } from '../mcp/mcp.dispatcher.js';
import { Metrics } from '../metrics/metrics.js';
import { Exchange } from './exchange.js';
import type { InFlightRequests } from './in-flight-requests.js';
import { RequestContext } from './request-context.js';
import { RequestLog } from './request-log.js';
import { RequestRunner, type RequestMessage } from './request-runner.js';
import type { RequestSource } from './http-request.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

/** A message that needs no answer. */
type OneWayMessage = Extract<Inbound, { kind: 'notification' | 'response' }>;

/**
 * Processes the messages that clients with a session send with POST. The answer to a request is the HTTP response. A POST
 * that contains only notifications and responses is acknowledged with status 202.
 */
@Injectable()
export class MessageReceiver {
  constructor(
    private readonly runner: RequestRunner,
    private readonly dispatcher: McpDispatcher,
    private readonly sessions: Sessions,
    private readonly log: RequestLog,
    private readonly metrics: Metrics,
  ) {}

  get inFlight(): InFlightRequests {
    return this.runner.inFlight;
  }

  receive(
    message: RequestMessage | OneWayMessage,
    session: Session,
    response: ServerResponse,
    source: RequestSource,
  ): void {
    if (message.kind === 'request') {
      this.run(message, session, new Exchange(response, session, message.id), source);
      return;
    }
    this.processOneWay(message, session, source);
    acknowledge(response);
  }

  /**
   * Processes the messages of a batch in their order. A long message waits until an iteration of the event loop has time
   * left for input.
   */
  async receiveBatch(
    messages: readonly Inbound[],
    session: Session,
    response: ServerResponse,
    source: RequestSource,
  ): Promise<void> {
    const answerCount = messages.filter(({ kind }) => kind === 'request' || kind === 'invalid').length;
    const exchange = Exchange.ofBatch(response, session, answerCount);
    for (const message of messages) {
      // Only a long message has `paramsJson`.
      if ('paramsJson' in message) await inputBudget.runWhenDue(() => undefined);
      if (message.kind === 'request') this.run(message, session, exchange, source);
      else if (message.kind === 'invalid')
        exchange.answer(errorMessage(message.id, JsonRpcError.from(this.refuseInvalid(message)).text));
      else this.processOneWay(message, session, source);
    }
    if (answerCount === 0) acknowledge(response);
  }

  /** Counts an invalid message if it is invalid because of a memory limit. Returns the error for the client. */
  refuseInvalid({ problem, memoryLimit }: Extract<Inbound, { kind: 'invalid' }>): GatewayError {
    if (memoryLimit) this.metrics.countMemoryLimit(memoryLimit);
    return new GatewayError('invalid-request', `Invalid request: ${problem}`);
  }

  /**
   * Processes `initialize`: creates a session, and opens it after the handler has accepted the request. The client gets
   * the key of the session in a response header.
   */
  async initialize(message: RequestMessage, response: ServerResponse, source: RequestSource): Promise<void> {
    const session = this.sessions.create(source.principal, source.quotaKey);
    const exchange = new Exchange(response, session, message.id);
    const context = contextOf(message, session, exchange, source);
    const count = this.inFlight.begin();
    try {
      this.sessions.requireCapacity(source.quotaKey);
      const result = await this.runner.dispatch(context, message.params);
      this.sessions.add(session);
      await this.sessions.waitUntilPersisted();
      response.setHeader('mcp-session-id', session.key!);
      await this.runner.respond(context, result);
    } catch (error) {
      this.runner.respondWithError(context, error);
    } finally {
      count.finish();
    }
  }

  private run(message: RequestMessage, session: Session, exchange: Exchange, source: RequestSource): void {
    const context = contextOf(message, session, exchange, source);
    this.runner.run(context, message, source.headers, () => this.begin(context));
  }

  /**
   * Counts the request as running. Returns the function to call when the request has ended. Throws if a limit is
   * reached.
   */
  private begin(context: RequestContext): () => void {
    const { session } = context;
    try {
      session.beginRequest(context);
    } catch (error) {
      if (isLimitOfSession(error)) this.metrics.countRefusal('inFlightPerSession');
      throw error;
    }
    const count = this.inFlight.begin();
    return () => {
      session.finishRequest(context);
      count.finish();
    };
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

/** Responds to a POST whose messages need no answer. */
export function acknowledge(response: ServerResponse): void {
  response.writeHead(202, { 'content-length': 0 });
  response.end();
}
