import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Params } from '../mcp/json-rpc.js';
import type { SessionContext } from '../mcp/mcp-context.js';
import { requireUri } from '../mcp/uri-param.js';
import { Subscriptions } from './subscriptions.service.js';

/** Turns away a client that has as many subscriptions as it may have, before anything is asked of a server. */
@Injectable()
export class SubscriptionLimitGuard implements CanActivate {
  constructor(private readonly subscriptions: Subscriptions) {}

  canActivate(execution: ExecutionContext): boolean {
    const rpc = execution.switchToRpc();
    this.subscriptions.requireWithinLimits(
      rpc.getContext<SessionContext>(),
      requireUri(rpc.getData<Params | undefined>()),
    );
    return true;
  }
}
