import { Catch, HttpException, Logger, type ArgumentsHost } from '@nestjs/common';
import { BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { throwError } from 'rxjs';
import { GatewayError } from '../core/errors.js';
import { AdminProblem, PROBLEMS, type ProblemKind } from './admin-problem.js';
import { requestIdOf } from './admin-caller.js';
import { SecretRedactor } from './secret-redactor.js';

const CHALLENGE = 'Bearer realm="gatehouse-admin"';
const UNDER_ADMIN = /^\/admin(?:[/?]|$)/;
const TYPE = 'urn:gatehouse:problem:';

/** Whatever goes wrong under /admin, also before there is a controller, is told as RFC 9457 wants it. */
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
    if (host.getType() !== 'http') return throwError(() => exception);
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    // oxlint-disable-next-line promise/valid-params -- of a filter, not of a promise
    if (!UNDER_ADMIN.test(request.url)) return super.catch(exception, host);
    const problem = asProblem(exception);
    const requestId = requestIdOf(request);
    if (PROBLEMS[problem.kind].status >= 500) this.report(exception, request, requestId);
    this.answer(http.getResponse<FastifyReply>(), problem, requestId);
    return undefined;
  }

  private answer(reply: FastifyReply, problem: AdminProblem, requestId: string): void {
    if (reply.sent) return;
    const { kind, message, errors } = problem;
    const { status, title } = PROBLEMS[kind];
    const listed = errors.length > 0 ? { errors } : {};
    const body = { type: `${TYPE}${kind}`, title, status, detail: message, requestId, ...listed };
    if (kind === 'unauthorized') reply.header('www-authenticate', CHALLENGE);
    // Sent as text: an object would be sent as application/json.
    void reply
      .code(status)
      .headers({ 'cache-control': 'no-store', 'x-request-id': requestId })
      .header('content-type', 'application/problem+json; charset=utf-8')
      .send(JSON.stringify(this.secrets.redact(body)));
  }

  private report(exception: unknown, { method, routeOptions }: FastifyRequest, requestId: string): void {
    const { message: problem, stack, cause } = exception as Error;
    this.logger.error({
      message: 'an admin request failed',
      method,
      route: routeOptions.url,
      requestId,
      problem,
      ...(exception instanceof GatewayError ? { cause: (cause as Error | undefined)?.message } : { stack }),
    });
  }
}

const KINDS_BY_STATUS = new Map<number, ProblemKind>([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not-found'],
  [409, 'conflict'],
  [413, 'payload-too-large'],
  [415, 'unsupported-media-type'],
]);

function asProblem(exception: unknown): AdminProblem {
  if (exception instanceof AdminProblem) return exception;
  if (exception instanceof GatewayError) return asStorageProblem(exception);
  const status = exception instanceof HttpException ? exception.getStatus() : statusIn(exception);
  if (status >= 400 && status < 500)
    return new AdminProblem(KINDS_BY_STATUS.get(status) ?? 'malformed', (exception as Error).message);
  // The cause is logged and not sent.
  return new AdminProblem('internal', 'see the log of the gateway for the cause');
}

function asStorageProblem({ kind, message }: GatewayError): AdminProblem {
  if (kind === 'storage-full' || kind === 'storage-unavailable') return new AdminProblem(kind, message);
  return new AdminProblem('internal', 'see the log of the gateway for the cause');
}

/** Fastify's own errors, such as a body that is no JSON, carry their status. */
const statusIn = (error: unknown): number =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : 500;
