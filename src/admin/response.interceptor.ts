import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { mergeMap, type Observable } from 'rxjs';
import { isJsonObject } from '../lib/json-text/json-value.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { requestIdOf, type AdminRequest } from './admin-caller.js';
import { SecretRedactor } from './secret-redactor.js';

/** Forbids caching of every response, removes its secrets and encodes it in slices. */
@Injectable()
export class ResponseInterceptor implements NestInterceptor {
  constructor(private readonly secrets: SecretRedactor) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    reply.headers({
      'cache-control': 'no-store',
      'x-request-id': requestIdOf(http.getRequest<AdminRequest>()),
    });
    return next.handle().pipe(
      mergeMap((value) => {
        if (!isJsonObject(value)) return Promise.resolve(this.secrets.redact(value));
        reply.type('application/json; charset=utf-8');
        return this.secrets.encode(value, sliceScheduler.start());
      }),
    );
  }
}
