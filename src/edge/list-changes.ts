import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { CatalogChange, ListKind } from '../core/catalog.js';
import { notificationMessage } from '../mcp/json-rpc.js';
import { Registry } from '../registry/registry.service.js';
import { eventFrame } from './event-frame.js';
import { Sessions } from './sessions.service.js';

/** Tells exactly those clients whose view of a list changed. */
@Injectable()
export class ListChanges implements OnModuleInit {
  constructor(
    private readonly registry: Registry,
    private readonly sessions: Sessions,
  ) {}

  onModuleInit(): void {
    this.registry.onChange((change) => this.announce(change));
  }

  private announce(change: CatalogChange): void {
    for (const kind of Object.keys(change) as ListKind[]) {
      const servers = [...change[kind]];
      if (servers.length === 0) continue;
      const method = `notifications/${kind}/list_changed`;
      const frame = eventFrame(notificationMessage(method, undefined));
      for (const session of this.sessions.all()) {
        const sees = session.isReady && servers.some((server) => session.scope.allows(server));
        if (sees) session.deliver(frame, { coalesce: method });
      }
    }
  }
}
