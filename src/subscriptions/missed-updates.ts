import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import type { ResourceAddress } from '../core/resources/resource-uri.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import type { Subscriber } from '../mcp/mcp-context.js';
import { coalesceKey } from './resource-update.js';
import { ResourceUpdates } from './resource-updates.js';
import { Subscribers } from './subscribers.js';
import { UpstreamSubscriptions } from './upstream-subscriptions.js';

/**
 * Repeats updates for a client that opens its stream again, if events may have been lost since the earlier connection
 * (`Subscriber.onMissedEvents`). The client gets one update for each resource to which it is subscribed.
 */
@Injectable()
export class MissedUpdates implements OnModuleInit {
  /**
   * By id of each subscriber for which `repeatAll` runs: the keys of its queued events, which need not be repeated. When the
   * subscriber reconnects again, a new run replaces the earlier one.
   */
  private readonly queuedKeysOfRuns = new Map<string, ReadonlySet<string>>();

  constructor(
    private readonly subscribers: Subscribers,
    private readonly upstreams: UpstreamSubscriptions,
    private readonly updates: ResourceUpdates,
    private readonly backends: Backends,
  ) {}

  onModuleInit(): void {
    this.subscribers.onMissedEvents((subscriber, queuedKeys) => void this.repeatAll(subscriber, queuedKeys));
  }

  /** Works in slices: a client may have many subscriptions, and a pattern matches up to a thousand resources. */
  private async repeatAll(subscriber: Subscriber, queuedKeys: ReadonlySet<string>): Promise<void> {
    const { id } = subscriber;
    this.queuedKeysOfRuns.set(id, queuedKeys);
    const yieldIfDue = sliceScheduler.start();
    for (const row of Array.from(this.subscribers.table.ofSubscriber(id))) {
      for (const uri of await this.upstreams.watchedUris(row)) {
        const yielding = yieldIfDue();
        if (yielding) await yielding;
        if (this.queuedKeysOfRuns.get(id) !== queuedKeys) return;
        const address = { server: row.server, uri };
        if (!queuedKeys.has(coalesceKey(row.server, uri)))
          this.updates.repeatFor(subscriber, address, this.isGone(address));
      }
    }
    if (this.queuedKeysOfRuns.get(id) === queuedKeys) this.queuedKeysOfRuns.delete(id);
  }

  private isGone(address: ResourceAddress): boolean {
    return !this.backends.find(address.server) || this.upstreams.wanted.isGone(address);
  }
}
