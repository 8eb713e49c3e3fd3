import { Injectable, type OnModuleInit } from '@nestjs/common';
import { completesWithin } from '../lib/deadlines/timeout.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { SessionRecords } from '../state/session-records.js';
import { Metrics } from '../metrics/metrics.js';
import { Subscribers } from '../subscriptions/subscribers.js';
import { Authenticator } from './auth/authenticator.js';
import { SessionRestorer } from './session-restorer.js';
import { Session } from './session.js';
import { Sessions } from './sessions.service.js';

/** Maximum time for which a request that changes a session or subscription waits until the change is on disk. */
const WRITE_TIMEOUT_MS = 1000;

/** Stores every open session with its subscriptions, so that the next process can restore it (docs/decisions/0024). */
@Injectable()
export class SessionPersistence implements OnModuleInit {
  /** By open session: the time of the last activity in its record, in milliseconds since the epoch. */
  private readonly writtenActivity = new Map<Session, number>();

  constructor(
    private readonly restorer: SessionRestorer,
    private readonly records: SessionRecords,
    private readonly sessions: Sessions,
    private readonly subscribers: Subscribers,
    private readonly authenticator: Authenticator,
    private readonly metrics: Metrics,
  ) {}

  async onModuleInit(): Promise<void> {
    for (const session of await this.restorer.restoreAll()) this.track(session);
    const waitUntilPersisted = async (): Promise<void> => {
      await completesWithin(this.records.flush(), WRITE_TIMEOUT_MS);
    };
    this.sessions.waitUntilPersisted = waitUntilPersisted;
    this.subscribers.waitUntilPersisted = waitUntilPersisted;
    this.sessions.onOpen((session) => {
      this.track(session);
      this.store(session);
    });
    this.sessions.onQuotaKeyChange((session) => this.subscribers.quotaKeyChanged(session));
    this.sessions.onChange((session) => this.store(session));
    this.subscribers.onChange((subscription, subscriber, isAdded) => {
      const { id } = subscriber;
      // Subscriptions of a listen stream are not stored, because the stream ends with the process.
      if (!(subscriber instanceof Session)) return;
      if (isAdded) this.records.addSubscription(id, subscription);
      else this.records.removeSubscription(id, subscription.id);
    });
    this.sessions.onInterval(() => void this.writeActivity(this.sessions.activityWriteIntervalMs));
    this.metrics.exposeValue(
      'counter',
      'gatehouse_session_write_failures_total',
      'Failed writes of the session journal.',
      () => this.records.failures,
    );
  }

  /**
   * Writes the time of the last activity of each session if it is at least `minDifferenceMs` later than the time in the
   * record.
   */
  async writeActivity(minDifferenceMs = 1): Promise<void> {
    const yieldIfDue = sliceScheduler.start();
    for (const [session, written] of this.writtenActivity) {
      const yielding = yieldIfDue();
      if (yielding) await yielding;
      // The session may have been closed meanwhile.
      if (!this.writtenActivity.has(session)) continue;
      const seen = lastActiveAt(session);
      if (seen - written < minDifferenceMs) continue;
      this.writtenActivity.set(session, seen);
      this.records.touch(session.id, seen);
    }
  }

  /** Tracks the activity of the session. Removes its record when the session is closed. */
  private track(session: Session): void {
    this.writtenActivity.set(session, lastActiveAt(session));
    session.onClose(() => {
      this.writtenActivity.delete(session);
      this.records.remove(session.id);
    });
  }

  private store(session: Session): void {
    const { id, project, revision, profile, logLevel, openedAt: opened } = session;
    const principal = this.authenticator.storedForm(session.principal);
    if (!principal) return;
    const seen = lastActiveAt(session);
    this.writtenActivity.set(session, seen);
    this.records.put(
      { id, principal, project, revision: revision.version, profile: profile.text, logLevel, opened },
      seen,
    );
  }
}

const lastActiveAt = (session: Session): number => Math.round(Date.now() - session.idleMs);
