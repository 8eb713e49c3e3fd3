import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DesiredServers } from '../backends/desired-servers.js';
import { EVERYTHING } from '../core/scope.js';
import { Metrics } from '../metrics/metrics.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

/** The one that was logged first is forgotten when there are more. */
const MAX_LOGGED = 1000;

/** Counts sessions whose principal sees no server, and logs each principal and project once until they have one again. */
@Injectable()
export class EmptyScopes implements OnModuleInit {
  private readonly logger = new Logger('Sessions');
  private readonly logged = new Set<string>();

  constructor(
    private readonly sessions: Sessions,
    private readonly desired: DesiredServers,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.sessions.onOpen((session) => {
      this.check(session);
      session.onScopeChange(() => this.check(session));
    });
  }

  private check(session: Session): void {
    const { scope, principal, project, profile } = session;
    const key = JSON.stringify([principal.id, project]);
    // Without any limit, there may be no servers because none are configured.
    if (scope.key === EVERYTHING.key) return;
    if ([...this.desired.current.keys()].some((id) => scope.allows(id))) {
      this.logged.delete(key);
      return;
    }
    this.metrics.countEmptyScope();
    if (this.logged.has(key)) return;
    this.remember(key);
    this.logger.warn({
      message: 'a client sees no server: its projects do not exist or have no servers',
      principal: principal.id,
      projects: project === undefined ? Array.from(principal.grants) : [project],
      client: profile.clientLabel,
    });
  }

  private remember(key: string): void {
    this.logged.add(key);
    const [oldest] = this.logged;
    if (this.logged.size > MAX_LOGGED) this.logged.delete(oldest!);
  }
}
