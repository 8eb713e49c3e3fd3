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
 * Sends a client that opens its stream again without Last-Event-ID one update for each resource it is subscribed to,
 * because events on the earlier connection may have been lost.
 */
@Injectable()
export class MissedUpdates implements OnModuleInit {
  /**
   * By id of the subscriber for which updates are being repeated: the keys of its queued events, which are not repeated.
   * When the subscriber reconnects again, a new job replaces the one in progress.
   */
  private readonly jobs = new Map<string, ReadonlySet<string>>();

  constructor(
    private readonly subscribers: Subscribers,
    private readonly upstreams: UpstreamSubscriptions,
    private readonly updates: ResourceUpdates,
    private readonly backends: Backends,
  ) {}

  onModuleInit(): void {
    this.subscribers.onMissedEvents((subscriber, queued) => void this.repeatAll(subscriber, queued));
  }

  /** In slices: a client may have many subscriptions, and a pattern matches up to a thousand resources. */
  private async repeatAll(subscriber: Subscriber, queued: ReadonlySet<string>): Promise<void> {
    const { id } = subscriber;
    this.jobs.set(id, queued);
    const yieldIfDue = sliceScheduler.start();
    for (const row of Array.from(this.subscribers.table.ofSubscriber(id))) {
      for (const uri of await this.upstreams.watchedUris(row)) {
        const due = yieldIfDue();
        if (due) await due;
        if (this.jobs.get(id) !== queued) return;
        const address = { server: row.server, uri };
        if (!queued.has(coalesceKey(row.server, uri)))
          this.updates.repeatFor(subscriber, address, this.isGone(address));
      }
    }
    if (this.jobs.get(id) === queued) this.jobs.delete(id);
  }

  private isGone(address: ResourceAddress): boolean {
    return !this.backends.find(address.server) || this.upstreams.wanted.isGone(address);
  }
}
