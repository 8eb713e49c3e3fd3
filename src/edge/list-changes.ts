import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LIST_KINDS, type CatalogChange, type ListKind } from '../core/catalog/catalog.js';
import { notificationMessage } from '../mcp/json-rpc.js';
import { Registry } from '../registry/registry.service.js';
import { eventFrame, type EventFrame } from '../mcp/event-frame.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

/** Tells exactly those clients whose view of a list changed. */
@Injectable()
export class ListChanges implements OnModuleInit {
  constructor(
    private readonly registry: Registry,
    private readonly sessions: Sessions,
  ) {}

  onModuleInit(): void {
    this.registry.onChange((change) => this.broadcast(change));
  }

  private broadcast(change: CatalogChange): void {
    for (const kind of LIST_KINDS) {
      const servers = [...change[kind]];
      if (servers.length === 0) continue;
      const frame = listChangedFrame(kind);
      for (const session of this.sessions.all())
        if (servers.some((server) => session.scope.allows(server))) this.notify(session, kind, frame);
    }
  }

  /** Tells one client, once it is ready to hear. */
  notify(session: Session, kind: ListKind, frame = listChangedFrame(kind)): void {
    if (session.isReady) session.deliver(frame, { coalesce: kind, kind: `${kind}/list_changed` });
  }
}

const listChangedFrame = (kind: ListKind): EventFrame =>
  eventFrame(notificationMessage(`notifications/${kind}/list_changed`, undefined));
