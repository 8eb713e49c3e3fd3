import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { LIST_KINDS } from '../core/catalog/catalog.js';
import { NOTHING, type Scope } from '../core/scope.js';
import { Projects } from '../projects/projects.service.js';
import { Registry } from '../registry/registry.service.js';
import { Authenticator } from './auth/authenticator.js';
import { ListChanges } from './list-changes.js';
import type { NotificationRecipient } from './notification-recipients.js';
import { Sessions } from './sessions.service.js';

/** Updates the scopes of sessions after changes of projects and principals. Closes sessions with invalid credentials. */
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
  ) {}

  onModuleInit(): void {
    this.live.onChange(({ auth }) => {
      this.authenticator.replace(auth);
      this.closeRevoked();
    });
    this.projects.onChange(() => {
      for (const recipient of this.sessions.recipients) this.refreshScope(recipient);
    });
    this.sessions.onPrincipalChange((session) => this.refreshScope(session));
    this.sessions.onInterval(() => this.closeRevoked());
  }

  scopeOf({ principal, project }: Pick<NotificationRecipient, 'principal' | 'project'>): Scope {
    try {
      return this.projects.scope(principal, project);
    } catch {
      // The project was removed. Requests that name it are refused by the project guard.
      return NOTHING;
    }
  }

  /** Credentials are checked with every request, but a client with an open stream may send no further request. */
  private closeRevoked(): void {
    for (const recipient of this.sessions.recipients) {
      if (this.authenticator.isCurrent(recipient.principal)) continue;
      this.logger.log({ message: 'session closed: its credentials are no longer valid' });
      recipient.close();
    }
  }

  private refreshScope(recipient: NotificationRecipient): void {
    const before = recipient.scope;
    recipient.scope = this.scopeOf(recipient);
    if (recipient.scope.key !== before.key) this.notifyListChanges(recipient, before);
  }

  private notifyListChanges(recipient: NotificationRecipient, before: Scope): void {
    const { catalog } = this.registry;
    for (const kind of LIST_KINDS)
      if (catalog[kind].differs(before, recipient.scope)) this.listChanges.notify(recipient, kind);
  }
}
