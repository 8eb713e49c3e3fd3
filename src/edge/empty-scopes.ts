import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DesiredServers } from '../backends/desired-servers.js';
import { EVERYTHING } from '../core/scope.js';
import { Metrics } from '../metrics/metrics.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

/**
 * Maximum number of logged pairs of principal and project that are remembered. If there are more, the oldest pair is
 * removed and may be logged again.
 */
const MAX_LOGGED_KEYS = 1000;

/**
 * Counts sessions whose scope contains no server. Logs the principal and project of such a session once. The same pair is
 * logged again only after the scope of a session with this pair has contained a server.
 */
@Injectable()
export class EmptyScopes implements OnModuleInit {
  private readonly logger = new Logger('Sessions');
  /** Keys of the pairs of principal and project that were logged, oldest first. */
  private readonly loggedKeys = new Set<string>();

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
    // A scope without a limit is empty only if no server is configured.
    if (scope.key === EVERYTHING.key) return;
    if ([...this.desired.current.keys()].some((id) => scope.allows(id))) {
      this.loggedKeys.delete(key);
      return;
    }
    this.metrics.countEmptyScope();
    if (this.loggedKeys.has(key)) return;
    this.remember(key);
    this.logger.warn({
      message: 'a client sees no server: its projects do not exist or have no servers',
      principal: principal.id,
      projects: project === undefined ? Array.from(principal.grants) : [project],
      client: profile.clientLabel,
    });
  }

  private remember(key: string): void {
    this.loggedKeys.add(key);
    const [oldest] = this.loggedKeys;
    if (this.loggedKeys.size > MAX_LOGGED_KEYS) this.loggedKeys.delete(oldest!);
  }
}
