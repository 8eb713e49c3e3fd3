import { SizeRanking } from '../lib/queues/size-ranking.js';
import type { Session } from './session.js';

/** Maximum number of sessions of a principal that are compared to find one to end. */
const MAX_COMPARED_SESSIONS = 64;

/** The open sessions of each principal, by quota key. Finds the principal with the most sessions. */
export class SessionsByPrincipal {
  /** By quota key: the sessions, oldest first. */
  private readonly groups = new Map<string, Set<Session>>();
  private readonly ranking = new SizeRanking<Set<Session>>();

  countOf(quotaKey: string): number {
    return this.groups.get(quotaKey)?.size ?? 0;
  }

  add(session: Session): void {
    const { quotaKey } = session;
    const group = this.groups.get(quotaKey) ?? new Set();
    this.groups.set(quotaKey, group.add(session));
    this.ranking.resized(group, group.size - 1, group.size);
  }

  delete(session: Session): void {
    const { quotaKey } = session;
    const group = this.groups.get(quotaKey);
    if (!group?.delete(session)) return;
    this.ranking.resized(group, group.size + 1, group.size);
    if (group.size === 0) this.groups.delete(quotaKey);
  }

  /**
   * When `limits.sessions` is reached, chooses the session to end, so that the principal with this key can open another
   * one. Chooses among the oldest sessions of the principal with the most sessions: the one that has been idle for the
   * longest time. Returns undefined unless that principal has at least two sessions more than the principal with this
   * key.
   */
  sessionToEndFor(quotaKey: string): Session | undefined {
    const { largest, largestSize } = this.ranking;
    return largest && largestSize > this.countOf(quotaKey) + 1 ? longestIdle(largest) : undefined;
  }
}

/** The session with the longest idle time among the first `MAX_COMPARED_SESSIONS`. */
function longestIdle(sessions: Iterable<Session>): Session | undefined {
  let longest: Session | undefined;
  let comparedCount = 0;
  for (const session of sessions) {
    if (!longest || session.idleMs > longest.idleMs) longest = session;
    if (++comparedCount === MAX_COMPARED_SESSIONS) break;
  }
  return longest;
}
