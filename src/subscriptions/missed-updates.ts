import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import { patternAt } from '../core/resources/resource-pattern.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import type { Subscriber } from '../mcp/mcp-context.js';
import { ResourceUpdates } from './resource-updates.js';
import { Subscribers } from './subscribers.js';
import { UpstreamSubscriptions } from './upstream-subscriptions.js';

/**
 * A client that opens its stream again without Last-Event-ID gets one update for each of its subscriptions, because
 * events on the earlier connection may have been lost.
 */
@Injectable()
export class MissedUpdates implements OnModuleInit {
  constructor(
    private readonly subscribers: Subscribers,
    private readonly upstreams: UpstreamSubscriptions,
    private readonly updates: ResourceUpdates,
    private readonly backends: Backends,
  ) {}

  onModuleInit(): void {
    this.subscribers.onMissedEvents((subscriber) => {
      for (const row of this.subscribers.table.ofSubscriber(subscriber.id)) this.repeat(subscriber, row);
    });
  }

  private repeat(subscriber: Subscriber, row: Subscription): void {
    if (patternAt(row)) void this.repeatMatches(row);
    else this.updates.repeatFor(subscriber, row, this.isGone(row));
  }

  private async repeatMatches(row: Subscription): Promise<void> {
    for (const uri of await this.upstreams.watchedUris(row))
      this.updates.reportPossibleChange(row.server, uri, row.subscriber);
  }

  private isGone(row: Subscription): boolean {
    return !this.backends.find(row.server) || this.upstreams.wanted.isGone(row);
  }
}
