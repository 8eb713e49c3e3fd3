import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { publicSessionId, type Session } from '../edge/session.js';
import { Sessions } from '../edge/sessions.service.js';
import { runSliced, type Steps } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { ChangeFeed } from './change-feed.js';
import { SessionViews } from './session-views.js';

/** Requests begin and streams open too often to be published one by one, so that open sessions are polled. */
const POLL_INTERVAL_MS = 1000;
/** When more sessions have changed in an interval, one event says how many, and readers read the list again. */
export const MAX_PUBLISHED_SESSIONS = 50;

/** Publishes sessions that open, change and close. */
@Injectable()
export class SessionFeed implements OnModuleInit, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  /** The state of each session when it was last published. */
  private published = new WeakMap<Session, string>();

  constructor(
    private readonly sessions: Sessions,
    private readonly views: SessionViews,
    private readonly feed: ChangeFeed,
  ) {}

  onModuleInit(): void {
    this.sessions.onOpen((session) => {
      this.publish(session);
      const id = publicSessionId(session);
      session.onClose(() => this.feed.publish('session', { id, closed: true }));
    });
    this.timer = setInterval(() => void this.poll(), POLL_INTERVAL_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async poll(): Promise<void> {
    if (!this.feed.hasReaders) {
      // A session that changes while there are no readers is published when there is one.
      this.published = new WeakMap();
      return;
    }
    const changed: Session[] = [];
    await runSliced(this.collectChanged(changed), sliceScheduler.start());
    if (changed.length > MAX_PUBLISHED_SESSIONS) this.feed.publish('session', { changed: changed.length });
    else for (const session of changed) if (!session.isClosed) this.publish(session);
  }

  private *collectChanged(changed: Session[]): Steps {
    for (const session of this.sessions.all()) {
      yield;
      const state = this.stateOf(session);
      if (this.published.get(session) === state) continue;
      this.published.set(session, state);
      changed.push(session);
    }
  }

  private publish(session: Session): void {
    if (!this.feed.hasReaders) return;
    this.published.set(session, this.stateOf(session));
    this.feed.publish('session', this.views.summary(session));
  }

  /** Text that differs when the session has changed. Times are left out, because they change by themselves. */
  private stateOf(session: Session): string {
    const { calls, inFlight, hasStream, scope } = session;
    return `${calls} ${inFlight} ${hasStream} ${this.views.subscriptionsOf(session)} ${scope.key}`;
  }
}
