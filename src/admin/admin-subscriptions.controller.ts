import { Delete, Get, HttpCode, Param, Query } from '@nestjs/common';
import { CurrentCaller, type AdminCaller } from './admin-caller.js';
import { AdminController } from './admin-controller.js';
import { SubscriptionQuery } from './dto/list-query.dto.js';
import { SubscriptionsDto } from './dto/subscription.dto.js';
import { SubscriptionAdmin } from './subscription-admin.js';

@AdminController('subscriptions')
export class AdminSubscriptionsController {
  constructor(private readonly admin: SubscriptionAdmin) {}

  /** Lists subscriptions, the oldest first */
  @Get()
  async listSubscriptions(@Query() query: SubscriptionQuery): Promise<SubscriptionsDto> {
    const { items, ...page } = await this.admin.page(query);
    return { subscriptions: items, ...page };
  }

  /**
   * Ends a subscription; its client receives no more updates of the resource
   *
   * @param id - Id of the subscription.
   */
  @Delete(':id')
  @HttpCode(204)
  endSubscription(@CurrentCaller() caller: AdminCaller, @Param('id') id: string): Promise<void> {
    return this.admin.end(caller, id);
  }
}
