import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import { LIST_KINDS } from '../core/catalog/catalog.js';
import { NOTHING, type Scope } from '../core/scope.js';
import { Projects } from '../projects/projects.service.js';
import { Registry } from '../registry/registry.service.js';
import { Authenticator } from './auth/authenticator.js';
import { ListChanges } from './list-changes.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

/** Keeps what open sessions may see in step with projects and keys that change under them. */
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
      for (const session of this.sessions.all()) this.refresh(session);
    });
    this.sessions.onPrincipalChange((session) => this.refresh(session));
    this.sessions.onInterval(() => this.closeRevoked());
  }

  /** What a session may see now. */
  scopeOf({ principal, project }: Pick<Session, 'principal' | 'project'>): Scope {
    try {
      return this.projects.scope(principal, project);
    } catch {
      // The project is gone: the session sees nothing, and its requests are told why.
      return NOTHING;
    }
  }

  /** A session outlives the request that opened it, but not the right to open it. */
  private closeRevoked(): void {
    for (const session of this.sessions.all()) {
      if (this.authenticator.isCurrent(session.principal)) continue;
      this.logger.log({ message: 'session closed: its credentials are no longer valid' });
      session.close();
    }
  }

  private refresh(session: Session): void {
    const before = session.scope;
    session.scope = this.scopeOf(session);
    if (session.scope.key !== before.key) this.notifyListChanges(session, before);
  }

  private notifyListChanges(session: Session, before: Scope): void {
    const { catalog } = this.registry;
    for (const kind of LIST_KINDS)
      if (catalog[kind].differs(before, session.scope)) this.listChanges.notify(session, kind);
  }
}
