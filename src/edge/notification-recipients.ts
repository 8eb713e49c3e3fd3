import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { Injectable } from '@nestjs/common';
import type { ListKind } from '../core/catalog/catalog.js';
import type { Scope } from '../core/scope.js';
import type { ClientSession, Subscriber } from '../mcp/mcp-context.js';

/** A subscriber, with what the edge needs to notify it. */
export interface NotificationRecipient extends Subscriber {
  readonly kind: 'session' | 'listen';
  /** The project that limits the scope of the recipient. */
  readonly project: string | undefined;
  scope: Scope;
  /** Whether the client wants to know, now, that a list of this kind has changed. */
  acceptsListChange(kind: ListKind): boolean;
  /** Absent until the client sets a level. Until then, the client gets log messages of servers only during its calls. */
  readonly logLevel: LoggingLevel | undefined;
  /** Idempotent. To be called when its credentials are no longer valid. */
  close(): void;
}

@Injectable()
export class NotificationRecipients {
  private readonly recipients = new Set<NotificationRecipient>();

  add(recipient: NotificationRecipient): void {
    this.recipients.add(recipient);
    recipient.onClose(() => this.recipients.delete(recipient));
  }

  /** The recipient that is this session; undefined when it is closed. */
  ofSession(session: ClientSession): NotificationRecipient | undefined {
    const recipient = session as ClientSession & NotificationRecipient;
    return this.recipients.has(recipient) ? recipient : undefined;
  }

  [Symbol.iterator](): Iterator<NotificationRecipient> {
    return this.recipients.values();
  }

  /** Evaluates the condition just before each delivery, because its outcome may change while a fan-out runs. */
  *matching(
    condition: (recipient: NotificationRecipient) => boolean,
  ): Generator<NotificationRecipient, void> {
    for (const recipient of this.recipients) if (condition(recipient)) yield recipient;
  }
}
