import { UseGuards } from '@nestjs/common';
import { McpController, McpRequest } from '../mcp/mcp.decorators.js';
import type { SessionContext } from '../mcp/mcp-context.js';
import type { Params } from '../mcp/json-rpc.js';
import { requireUri } from '../mcp/params.js';
import { SubscriptionLimitGuard } from './subscription-limit.guard.js';
import { Subscriptions } from './subscriptions.service.js';

/** Key in `_meta`. If its value in the request is `true`, its value in the result is the id of the subscription. */
const SUBSCRIPTION_ID_META_KEY = 'io.gatehouse/subscription';

@McpController()
export class SubscriptionsController {
  constructor(private readonly subscriptions: Subscriptions) {}

  /** The result is empty unless the id is requested: some SDKs refuse additional members. */
  @UseGuards(SubscriptionLimitGuard)
  @McpRequest('resources/subscribe')
  async subscribe(params: Params | undefined, context: SessionContext): Promise<object> {
    const { id } = await this.subscriptions.subscribe(context, requireUri(params));
    const meta = params?.['_meta'] as Params | null | undefined;
    return meta?.[SUBSCRIPTION_ID_META_KEY] === true ? { _meta: { [SUBSCRIPTION_ID_META_KEY]: id } } : {};
  }

  /** Extension of the protocol: `subscriptionId` may be given instead of the URI, or in addition to it. */
  @McpRequest('resources/unsubscribe')
  unsubscribe(params: Params | undefined, context: SessionContext): Record<string, never> {
    const { subscriptionId, uri } = params ?? {};
    if (typeof subscriptionId === 'string') {
      const isRemoved = this.subscriptions.unsubscribe(context, subscriptionId);
      if (isRemoved || uri === undefined) return {};
    }
    this.subscriptions.unsubscribe(context, requireUri(params));
    return {};
  }
}
