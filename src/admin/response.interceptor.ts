import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { mergeMap, type Observable } from 'rxjs';
import { sliceScheduler } from '../lib/slices/slices.js';
import { requestIdOf, type AdminRequest } from './admin-caller.js';
import { SecretRedactor } from './secret-redactor.js';

/** Redacts secrets in every response, and forbids caching. */
@Injectable()
export class ResponseInterceptor implements NestInterceptor {
  constructor(private readonly secrets: SecretRedactor) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    http
      .getResponse<FastifyReply>()
      .headers({ 'cache-control': 'no-store', 'x-request-id': requestIdOf(http.getRequest<AdminRequest>()) });
    return next.handle().pipe(mergeMap((value) => this.secrets.redactPage(value, sliceScheduler.start())));
  }
}
