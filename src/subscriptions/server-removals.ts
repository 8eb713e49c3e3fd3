import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DesiredServers } from '../backends/desired-servers.js';
import { runSliced, type Steps } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { Subscribers } from './subscribers.js';
import { Subscriptions } from './subscriptions.service.js';

/** Ends the subscriptions to a removed server, and the unconfirmed subscriptions to a disabled server. */
@Injectable()
export class ServerRemovals implements OnModuleInit {
  constructor(
    private readonly desired: DesiredServers,
    private readonly subscribers: Subscribers,
    private readonly subscriptions: Subscriptions,
  ) {}

  onModuleInit(): void {
    this.desired.onChange((servers) => {
      for (const id of Array.from(this.subscribers.table.servers)) {
        const server = servers.get(id);
        if (!server) void runSliced(this.endSubscriptionsTo(id), sliceScheduler.start());
        else if (!server.enabled) this.subscriptions.endPendingAt(id);
      }
    });
  }

  /**
   * Ends the subscriptions that exist now, in slices, because a server may have 100,000 of them. If the server is added
   * again meanwhile, new subscriptions to it are not ended.
   */
  private *endSubscriptionsTo(server: string): Steps {
    const targets = Array.from(this.subscribers.table.targetsOf(server));
    const rows = targets.flatMap((target) => Array.from(target.subscriptions));
    for (const { id } of rows) {
      this.subscriptions.end(id, 'server removed');
      yield;
    }
  }
}
