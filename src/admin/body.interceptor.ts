import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import type { GatewayError } from '../core/errors.js';
import { readBody } from '../edge/http-request-body.js';
import { JsonProblem } from '../lib/json-text/json-reader.js';
import { isJsonObject } from '../lib/json-text/json-value.js';
import { Metrics } from '../metrics/metrics.js';
import { AdminProblem } from './admin-problem.js';

const JSON_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/merge-patch+json']);
/** Validating a server definition of this size and searching it for secrets takes less than 50 ms. */
const MAX_BODY_BYTES = 65_536;
const BODY_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/**
 * A fast check of the JSON text: if it does not match, `isPoisoned` is false for the body. A key may be written with `\u`
 * escapes, so every text with such an escape matches.
 */
const MAY_BE_POISONED = /__proto__|constructor|\\u/;

/**
 * Reads and parses the body of a request. An interceptor runs after the guard, so no byte of a body is read before its
 * sender is authorised. A content type other than JSON is refused.
 */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  constructor(private readonly metrics: Metrics) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    requireJsonType(request);
    if (BODY_METHODS.has(request.method) && hasBody(request)) request.body = await this.read(request);
    return next.handle();
  }

  private async read({ raw }: FastifyRequest): Promise<unknown> {
    const body = await readBody(raw, MAX_BODY_BYTES).catch((error: GatewayError) => {
      throw new AdminProblem('malformed', error.message);
    });
    if (body instanceof JsonProblem) {
      this.metrics.countRefusedJson('admin', body.reason);
      const kind = body.reason === 'size' ? 'payload-too-large' : 'malformed';
      throw new AdminProblem(kind, `the body ${body.message}`);
    }
    const { text } = body;
    const value: unknown = JSON.parse(text);
    if (MAY_BE_POISONED.test(text) && isPoisoned(value))
      throw new AdminProblem(
        'malformed',
        'the body has a key that is not allowed: __proto__ or constructor.prototype',
      );
    return value;
  }
}

/** Browsers send forms and plain text across origins without a preflight request, so those types are refused. */
function requireJsonType({ headers }: FastifyRequest): void {
  const type = headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase();
  if (type !== undefined && !JSON_TYPES.has(type))
    throw new AdminProblem(
      'unsupported-media-type',
      `the content type must be ${[...JSON_TYPES].join(' or ')}, not ${type}`,
    );
}

/** RFC 9112, 6.3: a request without either header has no body. */
const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Whether merging the value into another object would change a prototype: `__proto__` or `constructor.prototype` is a key
 * at any depth. `readBody` limits the depth, so the recursion is safe.
 */
function isPoisoned(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Object.hasOwn(value, '__proto__')) return true;
  const constructorValue: unknown = Object.getOwnPropertyDescriptor(value, 'constructor')?.value;
  if (isJsonObject(constructorValue) && Object.hasOwn(constructorValue, 'prototype')) return true;
  return Object.values(value).some(isPoisoned);
}
