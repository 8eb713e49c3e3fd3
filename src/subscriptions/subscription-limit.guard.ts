import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Params } from '../mcp/json-rpc.js';
import type { SubscriberRequest } from '../mcp/mcp-context.js';
import { requireUri } from '../mcp/params.js';
import { Subscriptions } from './subscriptions.service.js';

/** Refuses a subscription beyond the limits before the handler runs. */
@Injectable()
export class SubscriptionLimitGuard implements CanActivate {
  constructor(private readonly subscriptions: Subscriptions) {}

  canActivate(execution: ExecutionContext): boolean | Promise<boolean> {
    const rpc = execution.switchToRpc();
    const pendingCheck = this.subscriptions.requireWithinLimits(
      rpc.getContext<SubscriberRequest>(),
      requireUri(rpc.getData<Params | undefined>()),
    );
    return pendingCheck ? pendingCheck.then(() => true) : true;
  }
}
