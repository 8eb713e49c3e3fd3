import type { IncomingMessage, ServerResponse } from 'node:http';
import { Catch, HttpException, Logger, type ArgumentsHost } from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { throwError } from 'rxjs';
import { GatewayError } from '../core/errors.js';
import { AdminProblem, PROBLEMS, type ProblemKind } from './admin-problem.js';
import { writeRefusal } from '../edge/http-errors.js';
import { RETRY_AFTER_SECONDS } from './failed-tokens.js';
import { requestIdOf, type AdminRequest } from './admin-caller.js';
import type { ProblemDto } from './dto/problem.dto.js';
import { SecretRedactor } from './secret-redactor.js';

const WWW_AUTHENTICATE = 'Bearer realm="gatehouse-admin"';
const ADMIN_URL = /^\/admin(?:[/?]|$)/;
const TYPE_PREFIX = 'urn:gatehouse:problem:';

/**
 * Answers errors under /admin with problem details (RFC 9457), including errors that occur before a controller is called.
 */
@Catch()
export class ProblemFilter extends BaseExceptionFilter {
  private readonly logger = new Logger('Admin');

  constructor(
    { httpAdapter }: HttpAdapterHost,
    private readonly secrets: SecretRedactor,
  ) {
    super(httpAdapter);
  }

  override catch(exception: unknown, host: ArgumentsHost): unknown {
    // The filter is global, so it is also called for errors of MCP methods; it passes them on unchanged.
    if (host.getType() !== 'http') return throwError(() => exception);
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    // oxlint-disable-next-line promise/valid-params -- the catch of a filter, not of a promise
    if (!ADMIN_URL.test(request.url)) return super.catch(exception, host);
    const problem = problemOf(exception);
    const requestId = requestIdOf(request);
    if (PROBLEMS[problem.kind].status >= 500 && problem.kind !== 'draining')
      this.logFailure(exception, request, requestId);
    this.sendProblem(http.getResponse<FastifyReply>(), problem, requestId);
    return undefined;
  }

  private sendProblem(reply: FastifyReply, problem: AdminProblem, requestId: string): void {
    if (reply.sent) return;
    const body = problemDto(problem, requestId);
    if (problem.kind === 'too-many-attempts') reply.header('retry-after', RETRY_AFTER_SECONDS);
    if (problem.kind === 'unauthorized') reply.header('www-authenticate', WWW_AUTHENTICATE);
    // Fastify would send an object as application/json.
    void reply
      .code(body.status)
      .headers(problemHeaders(requestId))
      .send(JSON.stringify(this.secrets.redact(body)));
  }

  private logFailure(exception: unknown, { method, routeOptions }: FastifyRequest, requestId: string): void {
    const { message: problem, stack, cause } = exception as Error;
    this.logger.error({
      message: 'admin request failed',
      method,
      route: routeOptions.url,
      requestId,
      problem,
      ...(isExpectedError(exception) ? { cause: (cause as Error | undefined)?.message } : { stack }),
    });
  }
}

/** Answers a request under /admin that the HTTP server refuses before it passes the request to Fastify. */
export function refuseAdmin(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  const requestId = requestIdOf(request as AdminRequest);
  const body = problemDto(problemOf(error), requestId);
  const headers = problemHeaders(requestId);
  writeRefusal(request, response, { status: body.status, headers, body: JSON.stringify(body) });
}

const problemHeaders = (requestId: string): Readonly<Record<string, string>> => ({
  'cache-control': 'no-store',
  'x-request-id': requestId,
  'content-type': 'application/problem+json; charset=utf-8',
});

function problemDto({ kind, message, errors }: AdminProblem, requestId: string): ProblemDto {
  const { status, title } = PROBLEMS[kind];
  return {
    type: `${TYPE_PREFIX}${kind}`,
    title,
    status,
    detail: message,
    requestId,
    ...(errors.length > 0 && { errors: [...errors] }),
  };
}

/** An expected error is logged without its stack. Any other error is a defect, which its stack helps to find. */
const isExpectedError = (exception: unknown): boolean =>
  exception instanceof GatewayError || exception instanceof AdminProblem;

const KINDS_BY_STATUS = new Map<number, ProblemKind>([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not-found'],
  [409, 'conflict'],
  [413, 'payload-too-large'],
  [415, 'unsupported-media-type'],
]);

export function problemOf(exception: unknown): AdminProblem {
  if (exception instanceof AdminProblem) return exception;
  if (exception instanceof GatewayError) return problemOfGatewayError(exception);
  const status = exception instanceof HttpException ? exception.getStatus() : statusCodeOf(exception);
  if (status >= 400 && status < 500)
    return new AdminProblem(KINDS_BY_STATUS.get(status) ?? 'malformed', (exception as Error).message);
  // The cause is logged, not sent.
  return new AdminProblem('internal', 'the log of the gateway names the cause');
}

function problemOfGatewayError({ kind, message }: GatewayError): AdminProblem {
  if (kind === 'storage-full' || kind === 'storage-unavailable' || kind === 'forbidden')
    return new AdminProblem(kind, message);
  if (kind === 'bad-request') return new AdminProblem('malformed', message);
  return new AdminProblem('internal', 'the log of the gateway names the cause');
}

/** The status code of an error of Fastify, such as 400 for an invalid URL; 500 for any other error. */
const statusCodeOf = (error: unknown): number =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : 500;
