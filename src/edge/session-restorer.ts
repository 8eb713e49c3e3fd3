import { Injectable, Logger } from '@nestjs/common';
import { sliceScheduler } from '../lib/slices/slices.js';
import { SessionRecords, type SessionRecord, type StoredSession } from '../state/session-records.js';
import { revisionOf } from '../mcp/revisions/revision.js';
import { SubscriptionRestorer } from '../subscriptions/subscription-restorer.js';
import { Authenticator } from './auth/authenticator.js';
import { isLoggingLevel } from '../mcp/logging-level.js';
import { LogMessages } from './log-messages.js';
import { SessionScopes } from './session-scopes.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

/** Restores the sessions that the previous process stored, if their credentials are still valid. */
@Injectable()
export class SessionRestorer {
  private readonly logger = new Logger('Sessions');

  constructor(
    private readonly records: SessionRecords,
    private readonly sessions: Sessions,
    private readonly scopes: SessionScopes,
    private readonly subscriptions: SubscriptionRestorer,
    private readonly authenticator: Authenticator,
    private readonly logMessages: LogMessages,
  ) {}

  /** Call this before any link is opened, so that links subscribe the restored subscriptions when they are opened. */
  async restoreAll(): Promise<Session[]> {
    const records = await this.records.load();
    const restored: Session[] = [];
    const yieldIfDue = sliceScheduler.start();
    // Sessions with the most recent activity come first, because the limit of sessions may be lower than before.
    for (const record of records.toSorted((a, b) => b.seen - a.seen)) {
      const yielding = yieldIfDue();
      if (yielding) await yielding;
      const session = this.restore(record);
      if (session) restored.push(session);
      else this.records.remove(record.session.id);
    }
    if (records.length > 0)
      this.logger.log({
        message: 'sessions restored',
        sessions: restored.length,
        dropped: records.length - restored.length,
      });
    return restored;
  }

  /**
   * Returns undefined if the session cannot be restored. Removes the records of subscriptions that cannot be restored.
   */
  private restore({ session: stored, seen, subscriptions }: SessionRecord): Session | undefined {
    const session = this.createSession(stored, seen);
    if (!session) return undefined;
    for (const subscription of subscriptions)
      if (!this.subscriptions.restore(session, subscription))
        this.records.removeSubscription(stored.id, subscription.id);
    this.sessions.add(session);
    if (isLoggingLevel(stored.logLevel)) this.logMessages.setLevel(session, stored.logLevel);
    return session;
  }

  private createSession(stored: StoredSession, seen: number): Session | undefined {
    const principal = this.authenticator.restorePrincipal(stored.principal);
    const revision = revisionOf(stored.revision);
    if (!principal || !revision) return undefined;
    const { id, opened, profile, project } = stored;
    const session = this.sessions.restore(principal, { id, openedAt: opened, seenAt: seen });
    if (!session) return undefined;
    session.revision = revision;
    session.profile.restore(profile);
    session.bindProject(project, this.scopes.scopeOf({ principal, project }));
    session.isReady = true;
    return session;
  }
}
