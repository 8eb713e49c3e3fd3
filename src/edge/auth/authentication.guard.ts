import type { IncomingMessage } from 'node:http';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Principal } from '../../mcp/principal.js';
import { ClientAddresses } from '../client-addresses.js';
import { Authenticator } from './authenticator.js';

/** A request that has passed `AuthenticationGuard` and `ConnectionGuard`. */
export interface AuthenticatedRequest extends IncomingMessage {
  principal: Principal;
  /** The request counts under this key for every limit per principal: see `Caller`. Set by `ConnectionGuard`. */
  quotaKey: string;
}

/** Determines the principal of an HTTP request from its headers. Throws or rejects with an AuthenticationError. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly addresses: ClientAddresses,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const principal = this.authenticator.authenticate(request.headers, () =>
      this.addresses.networkOf(request),
    );
    if (principal instanceof Promise) return principal.then((verified) => accept(request, verified));
    return accept(request, principal);
  }
}

function accept(request: AuthenticatedRequest, principal: Principal): true {
  request.principal = principal;
  return true;
}
