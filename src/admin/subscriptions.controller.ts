import { Delete, Get, HttpCode, Param, Query } from '@nestjs/common';
import { AdminController } from './admin-controller.js';
import { AskedBy, type Asked } from './asked.js';
import { SubscriptionAdmin, type SubscriptionView } from './subscription-admin.js';
import { SubscriptionQuery } from './subscription-query.js';

interface SubscriptionsPage {
  readonly subscriptions: readonly SubscriptionView[];
  readonly nextCursor?: string;
  readonly total: number;
}

@AdminController('subscriptions')
export class SubscriptionsController {
  constructor(private readonly admin: SubscriptionAdmin) {}

  @Get()
  list(@Query() query: SubscriptionQuery): SubscriptionsPage {
    const { items, ...more } = this.admin.page(query);
    return { subscriptions: items, ...more };
  }

  @Delete(':id')
  @HttpCode(204)
  end(@AskedBy() by: Asked, @Param('id') id: string): Promise<void> {
    return this.admin.end(by, id);
  }
}
