import { Module } from '@nestjs/common';
import { BackendsModule } from '../backends/backends.module.js';
import { RegistryModule } from '../registry/registry.module.js';
import { ListenSubscriptions } from './listen-subscriptions.js';
import { ListingWatcher } from './listing-watcher.js';
import { Subscribers } from './subscribers.js';
import { ServerRemovals } from './server-removals.js';
import { SubscriptionAddresses } from './subscription-addresses.js';
import { SubscriptionLimitGuard } from './subscription-limit.guard.js';
import { SubscriptionRestorer } from './subscription-restorer.js';
import { SubscriptionsController } from './subscriptions.controller.js';
import { SubscriptionLog } from './subscription-log.js';
import { Subscriptions } from './subscriptions.service.js';
import { MissedUpdates } from './missed-updates.js';
import { ResourceUpdates } from './resource-updates.js';
import { UpstreamSubscriptions } from './upstream-subscriptions.js';

@Module({
  imports: [RegistryModule, BackendsModule],
  controllers: [SubscriptionsController],
  providers: [
    Subscribers,
    SubscriptionAddresses,
    SubscriptionLog,
    Subscriptions,
    ListenSubscriptions,
    ServerRemovals,
    SubscriptionRestorer,
    SubscriptionLimitGuard,
    ResourceUpdates,
    UpstreamSubscriptions,
    ListingWatcher,
    MissedUpdates,
  ],
  exports: [ListenSubscriptions, Subscribers, SubscriptionAddresses, SubscriptionRestorer, Subscriptions],
})
export class SubscriptionsModule {}
