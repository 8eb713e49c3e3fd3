import { Logger } from '@nestjs/common';
import type { Limits } from '../config/limits.js';
import { limitExceeded, type GatewayError } from '../core/errors.js';
import type { Metrics } from '../metrics/metrics.js';
import { PrincipalQuota } from '../state/principal-quota.js';
import type { QuotaCounter, Quotas } from '../state/quotas.js';
import { publicSessionId, type Session } from './session.js';
import { SessionsByPrincipal } from './sessions-by-principal.js';

/** Key of the counter of all open sessions. */
const SESSIONS_COUNTER = 'sessions';

/** Limits the number of open sessions, in total and for each principal. */
export class SessionQuota {
  private readonly logger = new Logger('Sessions');
  private readonly byPrincipal = new SessionsByPrincipal();
  private readonly total: readonly QuotaCounter[];
  private readonly perPrincipal: PrincipalQuota;

  constructor(
    private readonly limits: Limits,
    private readonly quotas: Quotas,
    private readonly metrics: Metrics,
  ) {
    this.total = [{ key: SESSIONS_COUNTER, limit: limits.sessions }];
    const limit = { name: SESSIONS_COUNTER, limit: limits.sessionsPerPrincipal, noun: 'open sessions' };
    this.perPrincipal = new PrincipalQuota(quotas, limit, () => metrics.countRefusal('sessionsPerPrincipal'));
  }

  /** Whether a session can be opened without ending another one. Limits per principal are not checked. */
  get hasCapacity(): boolean {
    return this.quotas.count(SESSIONS_COUNTER) < this.limits.sessions;
  }

  /** Throws if a new session of this principal would be refused. */
  requireCapacity(quotaKey: string): void {
    if (this.perPrincipal.isReached(quotaKey)) throw this.perPrincipal.refuse();
    if (!this.hasCapacity && !this.byPrincipal.sessionToEndFor(quotaKey)) throw this.refuse();
  }

  /** Counts the session until `release`. Throws if a limit is reached. */
  claim(session: Session): void {
    const { quotaKey } = session;
    // A restored session has no key yet. The limit per principal does not apply to it, because the previous process has
    // accepted it. Moreover, the quota key of an anonymous session is the address of its client, known at the next request.
    if (session.key === undefined) this.perPrincipal.claimUnlimited(quotaKey);
    else if (!this.perPrincipal.claim(quotaKey)) throw this.perPrincipal.refuse();
    if (!this.claimTotal(quotaKey)) {
      this.perPrincipal.release(quotaKey);
      throw this.refuse();
    }
    this.byPrincipal.add(session);
  }

  release(session: Session): void {
    this.quotas.release(this.total);
    this.perPrincipal.release(session.quotaKey);
    this.byPrincipal.delete(session);
  }

  /**
   * Call this at the first request of a restored session. From then on, the session counts for the sender of the
   * request.
   */
  changeQuotaKey(session: Session, quotaKey: string): void {
    this.byPrincipal.delete(session);
    this.perPrincipal.release(session.quotaKey);
    session.quotaKey = quotaKey;
    this.perPrincipal.claimUnlimited(quotaKey);
    this.byPrincipal.add(session);
  }

  /**
   * Counts one more session in total. If the limit is reached, ends a session of the principal with the most sessions
   * (`sessionToEndFor`). Returns false if there is still no room.
   */
  private claimTotal(quotaKey: string): boolean {
    if (this.quotas.claim(this.total) === undefined) return true;
    const session = this.byPrincipal.sessionToEndFor(quotaKey);
    if (!session) return false;
    this.metrics.countSessionEviction();
    this.logger.warn({
      message: 'session ended to make room for another principal: limits.sessions is reached',
      session: publicSessionId(session),
      principal: session.principal.id,
      idleMs: Math.round(session.idleMs),
    });
    session.close();
    return this.quotas.claim(this.total) === undefined;
  }

  /** Counts the refusal. Returns the error for the client. */
  private refuse(): GatewayError {
    this.metrics.countRefusal('sessions');
    return limitExceeded(`${this.limits.sessions} sessions are open`, this.limits.sessions);
  }
}
