import { Injectable } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import { shorten } from '../core/errors.js';
import { MemoryLimitError } from '../core/memory-limits.js';
import type { JsonRpcError } from '../mcp/json-rpc-error.js';
import type { Inbound, Params } from '../mcp/json-rpc.js';
import type { McpContext } from '../mcp/mcp-context.js';
import type { HttpHeaders } from '../mcp/standard-headers.js';
import { McpDispatcher } from '../mcp/mcp.dispatcher.js';
import { endSpan, Tracing, type TracedMethod } from '../mcp/tracing.js';
import type { RequestOutcome } from '../metrics/metric-labels.js';
import { Metrics } from '../metrics/metrics.js';
import { InFlightRequests } from './in-flight-requests.js';
import { LONG_PARAMS_LIMITS, MemoryClaims } from './memory-claims.js';
import { RequestLog, type LoggedRequest } from './request-log.js';

export type RequestMessage = Extract<Inbound, { kind: 'request' }>;

/** A request of a client, of either era, that can write its own response. */
export interface AnswerableRequest extends McpContext, LoggedRequest {
  span: Span | undefined;
  /** When the request arrived, as `performance.now()`. */
  readonly startedAt: number;
  /** The error for requests of a client that has too many unread responses. Undefined for other clients. */
  limitError(): MemoryLimitError | undefined;
  /** Returns a promise only if the response takes several slices. */
  respond(result: unknown): Promise<void> | undefined;
  respondWithError(failure: JsonRpcError): void;
}

/**
 * Runs the requests of clients: checks limits, calls the handler, writes the response, and records span, metrics and
 * log.
 */
@Injectable()
export class RequestRunner {
  readonly inFlight = new InFlightRequests();
  private readonly longParams = new MemoryClaims(LONG_PARAMS_LIMITS);

  constructor(
    private readonly dispatcher: McpDispatcher,
    private readonly log: RequestLog,
    private readonly metrics: Metrics,
    private readonly tracing: Tracing,
  ) {}

  /**
   * Runs one request. `claim` counts the request against limits. It throws if a limit is reached, and otherwise returns
   * the function that ends the counting. The handler and the response continue after `run` has returned.
   */
  run(
    request: AnswerableRequest,
    message: RequestMessage,
    headers: HttpHeaders,
    claim: () => () => void,
  ): void {
    let release: () => void;
    let releaseParams: (() => void) | undefined;
    try {
      const limitError = request.limitError();
      if (limitError) throw limitError;
      // Only long params have `paramsJson`.
      if (message.paramsJson)
        releaseParams = this.longParams.claim(request.quotaKey, message.paramsText!.length);
      release = claim();
    } catch (error) {
      releaseParams?.();
      this.respondWithError(request, error);
      return;
    }
    if (this.tracing.isOn)
      request.span = this.tracing.startServerSpan(tracedMethod(message, request), message.params, headers);
    const end = (): void => {
      release();
      releaseParams?.();
    };
    const fail = (error: unknown): void => {
      try {
        this.respondWithError(request, error);
      } finally {
        end();
      }
    };
    const succeed = (result: unknown): void => {
      try {
        const responding = this.respond(request, result);
        if (responding) responding.then(end, fail);
        else end();
      } catch (error) {
        fail(error);
      }
    };
    this.dispatch(request, message.params).then(succeed, fail);
  }

  dispatch(request: McpContext, params: Params | undefined): Promise<unknown> {
    return this.dispatcher.dispatchRequest(request, params);
  }

  /**
   * Writes the result. If the client has too many unread responses, it gets an error instead. Returns a promise only if
   * the response takes several slices.
   */
  respond(request: AnswerableRequest, result: unknown): Promise<void> | undefined {
    const limitError = request.limitError();
    if (limitError) {
      this.respondWithError(request, limitError);
      return undefined;
    }
    const responding = request.respond(result);
    if (request.span) endSpan(request.span);
    const seconds = this.recordMetrics(request, 'ok');
    if (this.log.logsCalls) this.log.logCall(request, result, seconds);
    return responding;
  }

  respondWithError(request: AnswerableRequest, error: unknown): void {
    const failure = request.revision.errorOf(error);
    if (failure.cause instanceof MemoryLimitError) this.metrics.countMemoryLimit(failure.cause.memoryLimit);
    request.respondWithError(failure);
    endSpan(request.span, { type: failure.kind, code: failure.code });
    this.log.logFailure(request, failure, this.recordMetrics(request, 'error'));
  }

  /** Records the duration of the request in the metrics, and returns it in seconds. */
  private recordMetrics({ method, server, startedAt }: AnswerableRequest, outcome: RequestOutcome): number {
    const seconds = (performance.now() - startedAt) / 1000;
    this.metrics.observeRequest(method, this.dispatcher.handles(method), outcome, seconds);
    if (server !== undefined) this.metrics.serverDurations.observe(server, outcome, seconds);
    return seconds;
  }
}

/** The name and attributes of the span of a request. The session key is not among them, because it is a secret. */
function tracedMethod({ id, method, params }: RequestMessage, { revision }: McpContext): TracedMethod {
  const subject = params?.['name'] ?? params?.['uri'];
  return {
    method: shorten(method),
    name: typeof subject === 'string' ? shorten(subject) : undefined,
    attributes: {
      'jsonrpc.request.id': String(id),
      'mcp.protocol.version': revision.version,
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
    },
  };
}
