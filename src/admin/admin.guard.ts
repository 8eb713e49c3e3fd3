import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { AdminProblem } from './admin-problem.js';
import { AdminToken } from './admin-token.js';
import { rememberRole, type AdminRequest } from './admin-caller.js';

const LOOKING: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const JSON_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/merge-patch+json']);

/** Lets in who has an admin token, and whoever has only the viewer's token only to look. */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(private readonly tokens: AdminToken) {}

  canActivate(execution: ExecutionContext): boolean {
    const request = execution.switchToHttp().getRequest<AdminRequest>();
    const role = this.tokens.roleOf(request.headers.authorization);
    if (!role)
      throw new AdminProblem('unauthorized', 'send a valid admin token: `Authorization: Bearer <token>`');
    if (role === 'viewer' && !LOOKING.has(request.method))
      throw new AdminProblem('forbidden', 'the viewer token allows to look, and not to change anything');
    requireJson(request);
    rememberRole(request, role);
    return true;
  }
}

/** Forms and plain text could be read too, but a browser sends those to anybody without asking. */
function requireJson({ headers }: AdminRequest): void {
  const type = headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase();
  if (type !== undefined && !JSON_TYPES.has(type))
    throw new AdminProblem('unsupported-media-type', `the body must be application/json, and is ${type}`);
}
