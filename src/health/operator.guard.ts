import {
  HttpException,
  HttpStatus,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { RETRY_AFTER_SECONDS } from '../admin/failed-tokens.js';
import { OperatorAccess, type AccessCheckResult } from '../admin/operator-access.js';
import type { PeerRequest } from '../edge/client-addresses.js';

interface Reply {
  header(name: string, value: string): unknown;
}

interface Refusal {
  readonly status: HttpStatus;
  readonly message: string;
  readonly header?: readonly [name: string, value: string];
}

const REFUSALS: Readonly<Record<Exclude<AccessCheckResult, 'allowed'>, Refusal>> = {
  'no-token': {
    status: HttpStatus.UNAUTHORIZED,
    message: 'An admin or viewer token is required',
    header: ['www-authenticate', 'Bearer realm="gatehouse-admin"'],
  },
  'invalid-token': { status: HttpStatus.FORBIDDEN, message: 'The token is not valid' },
  'too-many-attempts': {
    status: HttpStatus.TOO_MANY_REQUESTS,
    message: 'This address sent too many invalid tokens; try again later',
    header: ['retry-after', RETRY_AFTER_SECONDS],
  },
};

/** Refuses requests that `OperatorAccess` does not allow. */
@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(private readonly access: OperatorAccess) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const http = context.switchToHttp();
    const decision = await this.access.check(http.getRequest<PeerRequest>());
    if (decision === 'allowed') return true;
    const { status, message, header } = REFUSALS[decision];
    if (header) http.getResponse<Reply>().header(...header);
    throw new HttpException(message, status);
  }
}
