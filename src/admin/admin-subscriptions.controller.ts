import { Delete, Get, HttpCode, Param, Query } from '@nestjs/common';
import { AdminController } from './admin-controller.js';
import { CurrentCaller, type AdminCaller } from './admin-caller.js';
import { SubscriptionAdmin, type SubscriptionDto } from './subscription-admin.js';
import { SubscriptionQuery } from './subscription-query.js';

interface SubscriptionsPage {
  readonly subscriptions: readonly SubscriptionDto[];
  readonly nextCursor?: string;
  readonly total: number;
}

@AdminController('subscriptions')
export class AdminSubscriptionsController {
  constructor(private readonly admin: SubscriptionAdmin) {}

  @Get()
  list(@Query() query: SubscriptionQuery): SubscriptionsPage {
    const { items, ...more } = this.admin.page(query);
    return { subscriptions: items, ...more };
  }

  @Delete(':id')
  @HttpCode(204)
  end(@CurrentCaller() by: AdminCaller, @Param('id') id: string): Promise<void> {
    return this.admin.end(by, id);
  }
}
