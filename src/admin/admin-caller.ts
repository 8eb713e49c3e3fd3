import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { PeerRequest } from '../edge/client-addresses.js';
import type { AdminRole } from './admin-tokens.js';
import { Precondition } from './precondition.js';

/** The authenticated caller of one request, and the precondition that it sent. */
export interface AdminCaller {
  readonly actor: AdminRole;
  readonly requestId: string;
  readonly precondition: Precondition;
}

/** The HTTP request. Guard, interceptors and filter get the same object, so it is the key of `roles` and `requestIds`. */
export interface AdminRequest {
  readonly method: string;
  readonly url: string;
  readonly socket: PeerRequest['socket'];
  readonly headers: IncomingHttpHeaders;
}

const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const REQUEST_ID = /^[\w.:-]{1,64}$/;

const roles = new WeakMap<AdminRequest, AdminRole>();
const requestIds = new WeakMap<AdminRequest, string>();

/** Called by the guard after authentication. */
export function setCallerRole(request: AdminRequest, role: AdminRole): void {
  roles.set(request, role);
}

/** The id in `X-Request-Id`, if it is valid; otherwise an id that is generated once per request. */
export function requestIdOf(request: AdminRequest): string {
  const header = request.headers['x-request-id'];
  if (typeof header === 'string' && REQUEST_ID.test(header)) return header;
  const id = requestIds.get(request) ?? randomUUID();
  requestIds.set(request, id);
  return id;
}

export const isRead = ({ method }: AdminRequest): boolean => READ_METHODS.has(method);

/** Action and target in the audit log for a request that is refused before its action is known. */
export const routeOf = ({ method, url }: AdminRequest): { action: string; target: string } => ({
  action: method,
  target: url.split('?', 1)[0]!,
});

/** Throws if no guard has set the role of the caller. */
export function callerOf(request: AdminRequest): Omit<AdminCaller, 'precondition'> {
  const actor = roles.get(request);
  if (!actor) throw new Error('a route of the admin API lacks AdminGuard');
  return { actor, requestId: requestIdOf(request) };
}

export const CurrentCaller = createParamDecorator(
  (_data: unknown, context: ExecutionContext): AdminCaller => {
    const request = context.switchToHttp().getRequest<AdminRequest>();
    return { ...callerOf(request), precondition: Precondition.fromHeaders(request.headers) };
  },
);
