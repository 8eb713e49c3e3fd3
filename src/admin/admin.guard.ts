import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { AdminProblem } from './admin-problem.js';
import { AdminTokens } from './admin-tokens.js';
import { setCallerRole, type AdminRequest } from './admin-caller.js';

const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const JSON_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/merge-patch+json']);

/** Requires the admin token; the viewer token is enough for reads. A body must be declared as JSON. */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(private readonly tokens: AdminTokens) {}

  canActivate(execution: ExecutionContext): boolean {
    const request = execution.switchToHttp().getRequest<AdminRequest>();
    const role = this.tokens.roleOf(request.headers.authorization);
    if (!role)
      throw new AdminProblem('unauthorized', 'send a valid admin token: `Authorization: Bearer <token>`');
    if (role === 'viewer' && !READ_METHODS.has(request.method))
      throw new AdminProblem('forbidden', 'the viewer token allows only reads');
    requireJson(request);
    setCallerRole(request, role);
    return true;
  }
}

/** Browsers send forms and plain text across origins without a preflight request, so those types are refused. */
function requireJson({ headers }: AdminRequest): void {
  const type = headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase();
  if (type !== undefined && !JSON_TYPES.has(type))
    throw new AdminProblem(
      'unsupported-media-type',
      `the content type must be ${[...JSON_TYPES].join(' or ')}, not ${type}`,
    );
}
