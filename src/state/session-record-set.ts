import type { SessionChange } from './session-change.js';
import type { SessionRecord, StoredSession, StoredSubscription } from './session-records.js';

interface MutableRecord {
  session: StoredSession;
  seen: number;
  readonly subscriptions: Map<string, StoredSubscription>;
}

/** The session records that result from all changes so far. */
export class SessionRecordSet {
  private readonly records = new Map<string, MutableRecord>();

  /** False when the change has no effect, because its session or subscription does not exist. */
  apply(change: SessionChange): boolean {
    if (change.do === 'keep') return this.put(change.session, change.seen);
    const record = this.records.get(change.session);
    if (!record) return false;
    switch (change.do) {
      case 'saw':
        record.seen = change.seen;
        return true;
      case 'subscribe':
        record.subscriptions.set(change.subscription.id, change.subscription);
        return true;
      case 'unsubscribe':
        return record.subscriptions.delete(change.subscription);
      default:
        return this.records.delete(change.session);
    }
  }

  *all(): Generator<SessionRecord> {
    for (const { session, seen, subscriptions } of this.records.values())
      yield { session, seen, subscriptions: [...subscriptions.values()] };
  }

  /**
   * The changes that recreate these records, for at most as many sessions as there are at the start of the iteration. `apply`
   * may be called during the iteration. The caller writes each change that was applied meanwhile after the changes that this
   * method yields. If the yielded changes include it already, applying it again has no effect.
   */
  *changes(): Iterable<SessionChange> {
    let remaining = this.records.size;
    for (const { session, seen, subscriptions } of this.records.values()) {
      if (remaining === 0) return;
      remaining--;
      yield { do: 'keep', session, seen };
      for (const subscription of subscriptions.values())
        yield { do: 'subscribe', session: session.id, subscription };
    }
  }

  private put(session: StoredSession, seen: number): boolean {
    const record = this.records.get(session.id);
    if (record) Object.assign(record, { session, seen });
    else this.records.set(session.id, { session, seen, subscriptions: new Map() });
    return true;
  }
}
