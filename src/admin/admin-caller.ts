import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { AdminRole } from './admin-token.js';
import { Precondition } from './precondition.js';

/** Who asks for a change, and under which condition. */
export interface AdminCaller {
  readonly actor: AdminRole;
  readonly requestId: string;
  readonly precondition: Precondition;
}

/** A request as the framework hands it around: the same object from the guard to the filter. */
export interface AdminRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

const REQUEST_ID = /^[\w.:-]{1,64}$/;

const roles = new WeakMap<AdminRequest, AdminRole>();
const ids = new WeakMap<AdminRequest, string>();

/** For the guard: it has found out who asks. */
export function rememberRole(request: AdminRequest, role: AdminRole): void {
  roles.set(request, role);
}

/** The id that the caller or a proxy gave it, else one of our own. */
export function requestIdOf(request: AdminRequest): string {
  const given = request.headers['x-request-id'];
  const id = ids.get(request) ?? (typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID());
  ids.set(request, id);
  return id;
}

export const CurrentCaller = createParamDecorator(
  (_data: unknown, context: ExecutionContext): AdminCaller => {
    const request = context.switchToHttp().getRequest<AdminRequest>();
    const actor = roles.get(request);
    if (!actor) throw new Error('a route of the admin API without its guard');
    return { actor, requestId: requestIdOf(request), precondition: Precondition.in(request.headers) };
  },
);
