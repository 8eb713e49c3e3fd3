import {
  ForbiddenException,
  Injectable,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { OperatorAccess } from '../admin/operator-access.js';
import type { PeerRequest } from '../edge/client-addresses.js';

interface Reply {
  header(name: string, value: string): unknown;
}

/** Refuses requests that `OperatorAccess` does not allow. */
@Injectable()
export class OperatorGuard implements CanActivate {
  constructor(private readonly access: OperatorAccess) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const http = context.switchToHttp();
    const request = http.getRequest<PeerRequest>();
    if (await this.access.allows(request)) return true;
    if (request.headers.authorization !== undefined) throw new ForbiddenException('The token is not valid');
    http.getResponse<Reply>().header('www-authenticate', 'Bearer realm="gatehouse-admin"');
    throw new UnauthorizedException('An admin or viewer token is required');
  }
}
