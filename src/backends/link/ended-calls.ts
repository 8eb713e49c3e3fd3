import { LateMessages } from './late-messages.js';

/**
 * The time after the end of a call during which the call may be the origin of messages on other streams than its response
 * stream. If such a stream was paused or interrupted, the time begins when the gateway reads that stream again.
 */
export const ORIGIN_GRACE_MS = 1000;

/** Identifies the client of a call: the id of its session or, without a session, the id of the request. */
export type ClientKey = string | number;

/** Stores two times only: when the last call with the latest key ended, and when the last call with any other key ended. */
export class LatestEnds<Key> {
  private latestKey: Key | undefined;
  /** When the last call with `latestKey` ended. */
  private latestAt = -Infinity;
  /** When the last call with any other key ended. */
  private othersAt = -Infinity;

  add(key: Key, endedAt: number): void {
    if (key === this.latestKey) {
      this.latestAt = Math.max(this.latestAt, endedAt);
    } else if (endedAt < this.latestAt) {
      this.othersAt = Math.max(this.othersAt, endedAt);
    } else {
      this.othersAt = this.latestAt;
      this.latestKey = key;
      this.latestAt = endedAt;
    }
  }

  /** Adds the ends that `others` stores. */
  addAll(others: LatestEnds<Key>): void {
    if (others.latestKey === undefined) return;
    this.add(others.latestKey, others.latestAt);
    this.othersAt = Math.max(this.othersAt, others.othersAt);
  }

  clear(): void {
    this.latestKey = undefined;
    this.latestAt = -Infinity;
    this.othersAt = -Infinity;
  }

  /** See `EndedCalls.renew`. */
  renew(time: number): void {
    const now = performance.now();
    if (time - this.latestAt < ORIGIN_GRACE_MS) this.latestAt = now;
    if (time - this.othersAt < ORIGIN_GRACE_MS) this.othersAt = now;
  }

  /** Whether a call with another key than this one ended within `ORIGIN_GRACE_MS`. */
  hasOtherThan(key: Key | undefined): boolean {
    const isLatestKey = key !== undefined && key === this.latestKey;
    const endedAt = isLatestKey ? this.othersAt : this.latestAt;
    return performance.now() - endedAt < ORIGIN_GRACE_MS;
  }
}

/**
 * The clients, and their principals, whose calls have ended at one server within `ORIGIN_GRACE_MS`. Takes constant memory, and
 * keeps no session alive.
 */
export class EndedCalls {
  private readonly clients = new LatestEnds<ClientKey>();
  private readonly principals = new LatestEnds<string>();
  /** Whether the server sends messages of a call after its response. All shared links of the server contribute. */
  readonly late = new LateMessages();

  /**
   * Calls may be added in another order than that in which they ended. `principal` is the `quotaKey` of the caller.
   */
  add(client: ClientKey, principal: string, endedAt = performance.now()): void {
    this.clients.add(client, endedAt);
    this.principals.add(principal, endedAt);
    this.late.callEnded(endedAt);
  }

  /**
   * To be called when messages that are read from now on may have been sent since `time`. Calls that may be their origin count
   * as ended now.
   */
  renew(time: number): void {
    this.clients.renew(time);
    this.principals.renew(time);
  }

  /** Whether a call of a client other than this one ended within `ORIGIN_GRACE_MS`. */
  hasOtherClientThan(client: ClientKey | undefined): boolean {
    return this.clients.hasOtherThan(client);
  }

  /** Whether a call of a principal other than this one ended within `ORIGIN_GRACE_MS`. */
  hasOtherPrincipalThan(principal: string | undefined): boolean {
    return this.principals.hasOtherThan(principal);
  }
}
