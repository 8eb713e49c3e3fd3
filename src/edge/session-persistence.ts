import { Injectable, type OnModuleInit } from '@nestjs/common';
import { completesWithin } from '../lib/deadlines/timeout.js';
import { SessionRecords } from '../state/session-records.js';
import type { Subscription } from '../core/subscriptions/subscription-target.js';
import { Metrics } from '../metrics/metrics.js';
import { Subscribers } from '../subscriptions/subscribers.js';
import { Authenticator } from './auth/authenticator.js';
import { SessionRestorer } from './session-restorer.js';
import type { Session } from './session.js';
import { Sessions } from './sessions.service.js';

/** Maximum length of capabilities and client information as JSON. A session that exceeds it is not stored. */
const MAX_PROFILE_LENGTH = 16_384;

/** How long a subscribe request waits for the disk. */
const WRITE_TIMEOUT_MS = 1000;

/** A session with subscriptions, and the log level and time of activity that were stored last. */
interface TrackedSession {
  readonly session: Session;
  logLevel: Session['logLevel'];
  seen: number;
}

/**
 * Stores the sessions that have subscriptions, so that the next process can restore them. The client of any other session
 * loses nothing when it has to initialize again.
 */
@Injectable()
export class SessionPersistence implements OnModuleInit {
  private readonly tracked = new Map<string, TrackedSession>();
  private stopListening = (): void => {};

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
    this.subscribers.waitUntilPersisted = async () =>
      void (await completesWithin(this.records.flush(), WRITE_TIMEOUT_MS));
    this.stopListening = this.subscribers.onChange((subscription, _subscriber, isAdded) =>
      isAdded ? this.onSubscribed(subscription) : this.onUnsubscribed(subscription),
    );
    this.sessions.onPrincipalChange((session) => {
      if (this.tracked.has(session.id)) this.store(session);
    });
    this.sessions.onQuotaKeyChange((session) => this.subscribers.quotaKeyChanged(session));
    this.sessions.onInterval(() => this.writeChanges());
    const failures = { type: 'counter', name: 'gatehouse_session_write_failures_total' } as const;
    this.metrics.expose({ ...failures, help: 'Failed writes of the session journal.' }, () => [
      [{}, this.records.failures],
    ]);
  }

  /** Writes the last activity and stops: sessions that close afterwards keep their records. */
  stop(): void {
    this.stopListening();
    this.stopListening = () => {};
    for (const { session } of this.tracked.values()) this.records.touch(session.id, lastActiveAt(session));
    this.tracked.clear();
  }

  private onSubscribed(subscription: Subscription): void {
    const { subscriber } = subscription;
    const session = this.sessions.find(subscriber);
    if (session && !this.tracked.has(subscriber)) this.store(session);
    this.records.addSubscription(subscriber, subscription);
  }

  private onUnsubscribed({ subscriber, id }: Subscription): void {
    if (!this.tracked.has(subscriber)) return;
    if (this.subscribers.table.countOfSubscriber(subscriber) > 0) {
      this.records.removeSubscription(subscriber, id);
      return;
    }
    this.tracked.delete(subscriber);
    this.records.remove(subscriber);
  }

  private store(session: Session): void {
    const { id, project, revision, capabilities, clientInfo, logLevel, openedAt } = session;
    const principal = this.authenticator.storedForm(session.principal);
    const { seen } = this.track(session);
    if (!principal || JSON.stringify([capabilities, clientInfo]).length > MAX_PROFILE_LENGTH) return;
    this.records.put(
      {
        id,
        principal,
        ...(project === undefined ? {} : { project }),
        revision: revision.version,
        capabilities,
        ...(clientInfo === undefined ? {} : { clientInfo }),
        ...(logLevel === undefined ? {} : { logLevel }),
        opened: openedAt,
      },
      seen,
    );
  }

  private track(session: Session): TrackedSession {
    const tracked = { session, logLevel: session.logLevel, seen: lastActiveAt(session) };
    this.tracked.set(session.id, tracked);
    return tracked;
  }

  /** Writes changed log levels and activity. Called periodically, so that requests need not write them to the disk. */
  private writeChanges(): void {
    for (const tracked of this.tracked.values()) {
      const { session, logLevel } = tracked;
      if (session.logLevel !== logLevel) this.store(session);
      else if (lastActiveAt(session) - tracked.seen >= this.sessions.activityWriteIntervalMs) {
        tracked.seen = lastActiveAt(session);
        this.records.touch(session.id, tracked.seen);
      }
    }
  }
}

const lastActiveAt = (session: Session): number => Math.round(Date.now() - session.idleMs);
