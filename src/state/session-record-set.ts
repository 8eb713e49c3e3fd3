import type { SessionChange } from './session-journal.js';
import type { SessionRecord, StoredSession, StoredSubscription } from './session-records.js';

interface Stored {
  session: StoredSession;
  seen: number;
  readonly subscriptions: Map<string, StoredSubscription>;
}

/** The session records that result from all changes so far. */
export class SessionRecordSet {
  private readonly kept = new Map<string, Stored>();

  /** False when the change has no effect. */
  apply(change: SessionChange): boolean {
    if (change.do === 'keep') return this.keep(change.session, change.seen);
    const kept = this.kept.get(change.session);
    if (!kept) return false;
    switch (change.do) {
      case 'saw':
        kept.seen = change.seen;
        return true;
      case 'subscribe':
        kept.subscriptions.set(change.subscription.id, change.subscription);
        return true;
      case 'unsubscribe':
        return kept.subscriptions.delete(change.subscription);
      default:
        return this.kept.delete(change.session);
    }
  }

  *[Symbol.iterator](): Iterator<SessionRecord> {
    for (const { session, seen, subscriptions } of this.kept.values())
      yield { session, seen, subscriptions: [...subscriptions.values()] };
  }

  /**
   * The changes that recreate these records. Records may change during the iteration, and those changes may be repeated
   * after it. The iteration ends after the number of sessions that existed at its start.
   */
  *changes(): Iterable<SessionChange> {
    let left = this.kept.size;
    for (const { session, seen, subscriptions } of this.kept.values()) {
      if (left-- === 0) return;
      yield { do: 'keep', session, seen };
      for (const subscription of subscriptions.values())
        yield { do: 'subscribe', session: session.id, subscription };
    }
  }

  private keep(session: StoredSession, seen: number): boolean {
    const kept = this.kept.get(session.id);
    if (kept) Object.assign(kept, { session, seen });
    else this.kept.set(session.id, { session, seen, subscriptions: new Map() });
    return true;
  }
}
