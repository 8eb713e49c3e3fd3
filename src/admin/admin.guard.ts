import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { AdminActions } from './admin-actions.js';
import { AdminProblem } from './admin-problem.js';
import { AdminTokens, type AdminRole } from './admin-tokens.js';
import { FailedTokens } from './failed-tokens.js';
import { callerOf, isRead, routeOf, setCallerRole, type AdminRequest } from './admin-caller.js';

/** Requires the admin token; the viewer token is enough for reads. */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(
    private readonly tokens: AdminTokens,
    private readonly failedTokens: FailedTokens,
    private readonly actions: AdminActions,
  ) {}

  async canActivate(execution: ExecutionContext): Promise<boolean> {
    const request = execution.switchToHttp().getRequest<AdminRequest>();
    const role = await this.authenticate(request);
    setCallerRole(request, role);
    if (role === 'viewer' && !isRead(request)) {
      const problem = new AdminProblem('forbidden', 'the viewer token allows only reads');
      await this.actions.recordRefusal(callerOf(request), routeOf(request), problem);
      throw problem;
    }
    return true;
  }

  private async authenticate(request: AdminRequest): Promise<AdminRole> {
    const { authorization } = request.headers;
    if (authorization !== undefined && !this.failedTokens.allowsAttempt(request))
      throw new AdminProblem(
        'too-many-attempts',
        'this address sent too many invalid tokens; try again later',
      );
    const role = this.tokens.roleOf(authorization);
    if (role) return role;
    if (authorization !== undefined) await this.failedTokens.recordFailure(request);
    throw new AdminProblem('unauthorized', 'send a valid admin token: `Authorization: Bearer <token>`');
  }
}
