import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { Injectable } from '@nestjs/common';
import type { ListKind } from '../core/catalog/catalog.js';
import type { Scope } from '../core/scope.js';
import type { LinkOwner, Subscriber } from '../mcp/mcp-context.js';

/** A session or listen stream that gets notifications. */
export interface NotificationRecipient extends Subscriber {
  readonly kind: 'session' | 'listen';
  /** The project that limits the scope of the recipient. */
  readonly project: string | undefined;
  scope: Scope;
  /** Whether the client wants `list_changed` for lists of this kind now. */
  acceptsListChange(kind: ListKind): boolean;
  /**
   * Undefined until the client sets a level. Until then, the client gets log messages of servers only during its calls.
   */
  readonly logLevel: LoggingLevel | undefined;
  /** Closes the session or listen stream. Called when its credentials are no longer valid. Idempotent. */
  close(): void;
}

/** All open sessions and listen streams. */
@Injectable()
export class NotificationRecipients {
  private readonly recipients = new Set<NotificationRecipient>();
  /** The listen streams, by `linkOwnerId`. */
  private readonly listens = new Map<string, Set<NotificationRecipient>>();

  add(recipient: NotificationRecipient): void {
    const { kind, linkOwnerId } = recipient;
    this.recipients.add(recipient);
    recipient.onClose(() => this.recipients.delete(recipient));
    if (kind === 'listen' && linkOwnerId !== undefined) this.addListen(linkOwnerId, recipient);
  }

  /**
   * The recipients of notifications about the links of this owner: the owner if it is a session, otherwise its listen
   * streams.
   */
  ofLinkOwner(owner: LinkOwner): readonly NotificationRecipient[] {
    const session = owner as LinkOwner & NotificationRecipient;
    return this.recipients.has(session) ? [session] : [...(this.listens.get(owner.id) ?? [])];
  }

  [Symbol.iterator](): Iterator<NotificationRecipient> {
    return this.recipients.values();
  }

  /**
   * Yields the recipients for which the condition is true. Checks the condition of a recipient only when the iteration
   * reaches it, because the result of the condition may change during a fan-out.
   */
  *matching(
    condition: (recipient: NotificationRecipient) => boolean,
  ): Generator<NotificationRecipient, void> {
    for (const recipient of this.recipients) if (condition(recipient)) yield recipient;
  }

  private addListen(linkOwnerId: string, listen: NotificationRecipient): void {
    const listens = this.listens.get(linkOwnerId) ?? new Set();
    this.listens.set(linkOwnerId, listens.add(listen));
    listen.onClose(() => {
      listens.delete(listen);
      if (listens.size === 0) this.listens.delete(linkOwnerId);
    });
  }
}
