import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { AdminActions } from './admin-actions.js';
import { AdminProblem } from './admin-problem.js';
import { AdminTokens, type AdminRole } from './admin-tokens.js';
import { FailedTokens } from './failed-tokens.js';
import { requestIdOf, setCallerRole, type AdminRequest } from './admin-caller.js';

const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const JSON_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/merge-patch+json']);

/** Requires the admin token; the viewer token is enough for reads. A body must be declared as JSON. */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(
    private readonly tokens: AdminTokens,
    private readonly failed: FailedTokens,
    private readonly actions: AdminActions,
  ) {}

  async canActivate(execution: ExecutionContext): Promise<boolean> {
    const request = execution.switchToHttp().getRequest<AdminRequest>();
    const role = await this.authenticate(request);
    if (role === 'viewer' && !READ_METHODS.has(request.method)) {
      const action = { action: request.method, target: request.url.split('?', 1)[0]! };
      await this.actions.recordRefusal({ actor: role, requestId: requestIdOf(request) }, action, 'forbidden');
      throw new AdminProblem('forbidden', 'the viewer token allows only reads');
    }
    requireJson(request);
    setCallerRole(request, role);
    return true;
  }

  private async authenticate(request: AdminRequest): Promise<AdminRole> {
    const { authorization } = request.headers;
    if (authorization !== undefined && !this.failed.allowsAttempt(request))
      throw new AdminProblem(
        'too-many-attempts',
        'this address sent too many invalid tokens; try again later',
      );
    const role = this.tokens.roleOf(authorization);
    if (role) return role;
    if (authorization !== undefined) await this.failed.fail(request);
    throw new AdminProblem('unauthorized', 'send a valid admin token: `Authorization: Bearer <token>`');
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
