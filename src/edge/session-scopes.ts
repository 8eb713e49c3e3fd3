import { isDeepStrictEqual } from 'node:util';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { LIST_KINDS, type Catalog, type ListKind } from '../core/catalog/catalog.js';
import { NOTHING, type Scope } from '../core/scope.js';
import { runSliced, type Steps } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import type { Principal } from '../mcp/principal.js';
import { Projects } from '../projects/projects.service.js';
import { Registry } from '../registry/registry.service.js';
import { DecisionStore } from '../state/decision-store.js';
import { Authenticator } from './auth/authenticator.js';
import { ListChanges } from './list-changes.js';
import { LinkOwners } from './modern/link-owners.js';
import { ParkedCalls } from './modern/parked-calls.js';
import type { NotificationRecipient } from './notification-recipients.js';
import { publicSessionId } from './session.js';
import { Sessions } from './sessions.service.js';

const CLOSED_MESSAGES = { session: 'session closed', listen: 'listen stream ended' } as const;

/**
 * Updates the scopes of sessions and listen streams after changes of projects and principals. Closes sessions and
 * listen streams whose credentials are no longer valid.
 */
@Injectable()
export class SessionScopes implements OnModuleInit {
  private readonly logger = new Logger('Sessions');

  constructor(
    private readonly live: LiveConfig,
    private readonly projects: Projects,
    private readonly authenticator: Authenticator,
    private readonly sessions: Sessions,
    private readonly registry: Registry,
    private readonly listChanges: ListChanges,
    private readonly decisions: DecisionStore,
    private readonly parkedCalls: ParkedCalls,
    private readonly linkOwners: LinkOwners,
  ) {}

  onModuleInit(): void {
    this.live.onChange(() => this.refreshCredentials());
    this.decisions.onChange((now, before) => {
      if (!isDeepStrictEqual(now.keys, before.keys)) this.refreshCredentials();
    });
    this.projects.onChange(() => this.refreshScopes(this.sessions.recipients));
    this.sessions.onPrincipalChange((session) => this.refreshScopes([session]));
    this.sessions.onInterval(() => void runSliced(this.closeRevoked(), sliceScheduler.start()));
  }

  scopeOf({ principal, project }: Pick<NotificationRecipient, 'principal' | 'project'>): Scope {
    try {
      return this.projects.scope(principal, project);
    } catch {
      // The project was removed, or the principal may not use it any more. `ProjectGuard` refuses requests to it.
      return NOTHING;
    }
  }

  private refreshCredentials(): void {
    this.authenticator.replace(this.live.current.auth);
    void runSliced(this.closeRevoked(), sliceScheduler.start());
  }

  /**
   * Ends everything whose credentials are no longer valid: parked calls, link owners and, in slices, sessions and listen
   * streams. Authentication of requests is not enough: a client with an open stream may send no requests.
   */
  private *closeRevoked(): Steps {
    const isCurrent = (principal: Principal): boolean => this.authenticator.isCurrent(principal);
    this.parkedCalls.cancelRevoked(isCurrent);
    this.linkOwners.closeRevoked(isCurrent);
    for (const recipient of this.sessions.recipients) {
      yield;
      if (this.authenticator.isCurrent(recipient.principal)) continue;
      const { kind, principal } = recipient;
      this.logger.log({
        message: `${CLOSED_MESSAGES[kind]}: its credentials are no longer valid`,
        [kind]: publicSessionId(recipient),
        principal: principal.id,
      });
      recipient.close();
    }
  }

  /** Changes the scopes at once. `list_changed` notifications follow in slices. */
  private refreshScopes(recipients: Iterable<NotificationRecipient>): void {
    const changes = new ScopeChanges(this.registry.catalog);
    for (const recipient of recipients) {
      const before = recipient.scope;
      recipient.scope = this.scopeOf(recipient);
      if (recipient.scope.key !== before.key) changes.add(recipient, before);
    }
    for (const [kind, affected] of changes.byKind) this.listChanges.notify(affected, kind);
  }
}

/** Collects the recipients whose lists differ after a change of their scope. */
class ScopeChanges {
  /** By kind of list: the recipients whose list of this kind differs. */
  readonly byKind = new Map<ListKind, NotificationRecipient[]>(LIST_KINDS.map((kind) => [kind, []]));
  /**
   * By the keys of the old and new scope: the kinds of lists that differ. A cache, because many sessions have equal
   * scopes.
   */
  private readonly differingKinds = new Map<string, readonly ListKind[]>();

  constructor(private readonly catalog: Catalog) {}

  add(recipient: NotificationRecipient, before: Scope): void {
    const key = `${before.key} ${recipient.scope.key}`;
    let kinds = this.differingKinds.get(key);
    if (!kinds) {
      kinds = LIST_KINDS.filter((kind) => this.catalog[kind].differsBetween(before, recipient.scope));
      this.differingKinds.set(key, kinds);
    }
    for (const kind of kinds) this.byKind.get(kind)!.push(recipient);
  }
}
