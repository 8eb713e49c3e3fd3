import { SizeRanking } from '../lib/queues/size-ranking.js';
import type { Session } from './session.js';

/** How many of the oldest sessions of a principal are compared to find one to end. */
const MAX_COMPARED = 64;

/** The open sessions of each principal, by quota key. Finds the principal with the most sessions. */
export class SessionsByPrincipal {
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
   * Chooses the session to end at `limits.sessions`, so that the principal with this key can open another one. The session
   * belongs to the principal with the most sessions: of its oldest ones, it is the one that is idle for longest. Undefined
   * unless that principal has at least two sessions more than the principal with this key.
   */
  sessionToEndFor(quotaKey: string): Session | undefined {
    const { largest, largestSize } = this.ranking;
    return largest && largestSize > this.countOf(quotaKey) + 1 ? longestIdle(largest) : undefined;
  }
}

/** Compares the first sessions only, which are the oldest. */
function longestIdle(sessions: Iterable<Session>): Session | undefined {
  let found: Session | undefined;
  let compared = 0;
  for (const session of sessions) {
    if (!found || session.idleMs > found.idleMs) found = session;
    if (++compared === MAX_COMPARED) break;
  }
  return found;
}
