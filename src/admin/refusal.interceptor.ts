import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { catchError, type Observable } from 'rxjs';
import { AdminActions } from './admin-actions.js';
import { callerOf, isRead, routeOf, type AdminRequest } from './admin-caller.js';
import { problemOf } from './problem.filter.js';

/** Records a refused change in the audit log, also if its body or its parameters are refused before an action begins. */
@Injectable()
export class RefusalInterceptor implements NestInterceptor {
  constructor(private readonly actions: AdminActions) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<AdminRequest>();
    if (isRead(request)) return next.handle();
    return next.handle().pipe(
      catchError(async (error: unknown) => {
        await this.actions.recordRefusal(callerOf(request), routeOf(request), problemOf(error));
        throw error;
      }),
    );
  }
}
