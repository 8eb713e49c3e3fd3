import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LIST_KINDS, type Catalog, type CatalogChange, type ListKind } from '../core/catalog/catalog.js';
import { NameChange } from '../core/naming/name-change.js';
import type { Scope } from '../core/scope.js';
import { runSliced, type Steps } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { notificationFrame } from '../mcp/event-frame.js';
import { SessionListings } from '../backends/session-listings.js';
import { FanOut, type NotificationEvent } from '../mcp/fan-out.js';
import { Registry } from '../registry/registry.service.js';
import { NotificationRecipients, type NotificationRecipient } from './notification-recipients.js';

/**
 * Sends `list_changed` to sessions and listen streams whose view of a list has changed. A change on a link that is not
 * shared concerns only the owner of the link.
 */
@Injectable()
export class ListChanges implements OnModuleInit {
  constructor(
    private readonly registry: Registry,
    private readonly recipients: NotificationRecipients,
    private readonly fanOut: FanOut,
    private readonly sessionListings: SessionListings,
  ) {}

  onModuleInit(): void {
    this.registry.onChange((...change) => this.broadcast(...change));
    this.sessionListings.onChange((owner, kinds) => {
      const recipients = this.recipients.ofLinkOwner(owner);
      for (const kind of kinds) this.notify(recipients, kind);
    });
  }

  /** Sends `list_changed` to the given recipients that accept it, in slices. */
  notify(recipients: readonly NotificationRecipient[], kind: ListKind): void {
    if (recipients.length > 0) this.deliver(kind, () => recipientsThatAccept(recipients, kind));
  }

  /** Sends `list_changed` for each changed list to the recipients that see the change. */
  private broadcast(change: CatalogChange, catalog: Catalog, previous: Catalog): void {
    for (const kind of LIST_KINDS) {
      if (change[kind].size === 0) continue;
      const nameChange =
        kind === 'resources' ? undefined : new NameChange(previous[kind], catalog[kind], change[kind]);
      if (nameChange?.mayBeInvisible)
        void runSliced(this.unchangedScopes(nameChange), sliceScheduler.start()).then((unchanged) =>
          this.announce(kind, change[kind], unchanged),
        );
      else this.announce(kind, change[kind], new Set());
    }
  }

  /** The keys of scopes in which the change is not visible. */
  private *unchangedScopes(change: NameChange): Steps<ReadonlySet<string>> {
    const scopes = new Map<string, Scope>();
    for (const { scope } of this.recipients) scopes.set(scope.key, scope);
    const unchanged = new Set<string>();
    for (const scope of scopes.values()) {
      if (!change.isVisible(scope)) unchanged.add(scope.key);
      yield;
    }
    return unchanged;
  }

  /**
   * Sends `list_changed` to recipients that see the shared list of a changed server. A recipient whose link owner has its
   * own list of the server does not see the shared one. Leaves out recipients in `unchangedScopes`, unless they see a
   * catalog variant, in which the change may be visible.
   */
  private announce(kind: ListKind, changed: ReadonlySet<string>, unchangedScopes: ReadonlySet<string>): void {
    const servers = [...changed];
    this.deliver(kind, () =>
      this.recipients.matching((recipient) => {
        const { linkOwnerId: owner = '', scope } = recipient;
        return (
          recipient.acceptsListChange(kind) &&
          (!unchangedScopes.has(scope.key) || this.registry.variants.of(owner) !== undefined) &&
          servers.some((server) => scope.allows(server) && !this.sessionListings.has(owner, server, kind))
        );
      }),
    );
  }

  private deliver(kind: ListKind, recipients: () => Iterator<NotificationRecipient>): void {
    this.fanOut.deliver({ recipients, createEvent: () => listChangedEvent(kind) });
  }
}

function* recipientsThatAccept(
  recipients: readonly NotificationRecipient[],
  kind: ListKind,
): Generator<NotificationRecipient, void> {
  for (const recipient of recipients) if (recipient.acceptsListChange(kind)) yield recipient;
}

const listChangedEvent = (kind: ListKind): NotificationEvent => ({
  frame: notificationFrame(`notifications/${kind}/list_changed`, `${kind}/list_changed`),
  coalesce: kind,
});
