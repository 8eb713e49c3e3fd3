import type { SessionChange } from './session-change.js';
import type { SessionRecord, StoredSession, StoredSubscription } from './session-records.js';

interface Kept {
  session: StoredSession;
  seen: number;
  readonly subscriptions: Map<string, StoredSubscription>;
}

/** What all changes so far come to. */
export class SessionLedger {
  private readonly kept = new Map<string, Kept>();

  get size(): number {
    return this.kept.size;
  }

  /** False when it changes nothing. */
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
   * The changes that make the same of nothing. Other changes may be made during the walk, and made again after it: the
   * walk ends with the sessions there were when it began, or it would not end while others come.
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
