import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LIST_KINDS, type CatalogChange, type ListKind } from '../core/catalog/catalog.js';
import { eventFrame } from '../mcp/event-frame.js';
import { FanOut, type NotificationEvent } from '../mcp/fan-out.js';
import { notificationMessage } from '../mcp/json-rpc.js';
import { Registry } from '../registry/registry.service.js';
import { NotificationRecipients, type NotificationRecipient } from './notification-recipients.js';

/** Sends `list_changed` to the recipients whose view of a list changed. */
@Injectable()
export class ListChanges implements OnModuleInit {
  constructor(
    private readonly registry: Registry,
    private readonly recipients: NotificationRecipients,
    private readonly fanOut: FanOut,
  ) {}

  onModuleInit(): void {
    this.registry.onChange((change) => this.broadcast(change));
  }

  notify(recipient: NotificationRecipient, kind: ListKind): void {
    if (recipient.isReady)
      this.fanOut.deliver({
        recipients: () => [recipient].values(),
        createEvent: () => listChangedEvent(kind),
      });
  }

  private broadcast(change: CatalogChange): void {
    for (const kind of LIST_KINDS) {
      const servers = [...change[kind]];
      if (servers.length === 0) continue;
      this.fanOut.deliver({
        recipients: () =>
          this.recipients.matching(
            ({ isReady, scope }) => isReady && servers.some((server) => scope.allows(server)),
          ),
        createEvent: () => listChangedEvent(kind),
      });
    }
  }
}

const listChangedEvent = (kind: ListKind): NotificationEvent => ({
  frame: eventFrame(notificationMessage(`notifications/${kind}/list_changed`, undefined)),
  coalesce: kind,
  kind: `${kind}/list_changed`,
});
