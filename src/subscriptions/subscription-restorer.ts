import { Injectable } from '@nestjs/common';
import { DesiredServers } from '../backends/desired-servers.js';
import { patternAt } from '../core/resources/resource-pattern.js';
import type { Subscriber } from '../mcp/mcp-context.js';
import { ResourceUpdates } from './resource-updates.js';
import { Subscribers, type RestorableSubscription } from './subscribers.js';
import { SubscriptionAddresses } from './subscription-addresses.js';
import { UpstreamSubscriptions } from './upstream-subscriptions.js';

/** Restores the subscriptions that sessions had in a previous process. */
@Injectable()
export class SubscriptionRestorer {
  constructor(
    private readonly desired: DesiredServers,
    private readonly subscribers: Subscribers,
    private readonly addresses: SubscriptionAddresses,
    private readonly upstreams: UpstreamSubscriptions,
    private readonly updates: ResourceUpdates,
  ) {}

  /**
   * Returns false if the server was removed from the configuration, or if scope or limits do not allow the
   * subscription.
   */
  restore(client: Subscriber, stored: RestorableSubscription): boolean {
    const server = this.desired.current.get(stored.server);
    const restored = server && this.subscribers.restore(client, stored);
    if (!restored) return false;
    const { subscription, isNew } = restored;
    if (!isNew) return true;
    if (server.enabled) this.upstreams.subscribeInBackground(subscription);
    // Resources of a disabled server count as deleted. The server may have been disabled after the previous process
    // ended.
    else if (!patternAt(subscription))
      this.updates.reportDeletion(
        subscription,
        (scope) => this.addresses.publicUri(subscription, scope),
        // The subscriber is a session, which is its own link owner.
        subscription.subscriber,
      );
    return true;
  }
}
