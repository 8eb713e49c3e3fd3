import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { Injectable } from '@nestjs/common';
import type { Scope } from '../core/scope.js';
import type { Subscriber } from '../mcp/mcp-context.js';

/** A subscriber as the edge manages it. */
export interface NotificationRecipient extends Subscriber {
  /** The project to which the recipient is limited. */
  readonly project: string | undefined;
  scope: Scope;
  /** Whether the client accepts notifications yet. */
  readonly isReady: boolean;
  /** Absent while the client has not asked for log messages. */
  readonly logLevel: LoggingLevel | undefined;
  /** Ends the stream of its notifications; requests in flight continue. */
  endNotifications(): void;
  close(): void;
}

@Injectable()
export class NotificationRecipients {
  private readonly open = new Set<NotificationRecipient>();

  add(recipient: NotificationRecipient): void {
    this.open.add(recipient);
    recipient.onClose(() => this.open.delete(recipient));
  }

  [Symbol.iterator](): Iterator<NotificationRecipient> {
    return this.open.values();
  }

  /** Evaluates the condition just before each delivery, because it may change while a fan-out runs. */
  *matching(
    condition: (recipient: NotificationRecipient) => boolean,
  ): Generator<NotificationRecipient, void> {
    for (const recipient of this.open) if (condition(recipient)) yield recipient;
  }
}
