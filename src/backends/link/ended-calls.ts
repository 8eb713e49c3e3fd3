/**
 * The time after the end of a call during which the call may be the origin of messages on other streams than its response
 * stream. If such a stream was paused or interrupted, the time begins when the gateway reads that stream again.
 */
export const ORIGIN_GRACE_MS = 1000;

/** Identifies the client of a call: the id of its session or, without a session, the id of the request. */
export type ClientKey = string | number;

/**
 * The clients whose calls have ended at one server within `ORIGIN_GRACE_MS`. Only the client of the last ended call is stored,
 * and a time for all others: this takes constant memory, and keeps no session alive.
 */
export class EndedCalls {
  private latestClient: ClientKey | undefined;
  /** When the last call of `latestClient` ended. */
  private latestAt = -Infinity;
  /** When the last call of any other client ended. */
  private othersAt = -Infinity;

  /** Calls may be added in another order than that in which they ended. */
  add(client: ClientKey, endedAt = performance.now()): void {
    if (client === this.latestClient) {
      this.latestAt = Math.max(this.latestAt, endedAt);
    } else if (endedAt < this.latestAt) {
      this.othersAt = Math.max(this.othersAt, endedAt);
    } else {
      this.othersAt = this.latestAt;
      this.latestClient = client;
      this.latestAt = endedAt;
    }
  }

  /**
   * To be called when messages that are read from now on may have been sent since `time`. Calls that may be their origin count
   * as ended now.
   */
  renew(time: number): void {
    const now = performance.now();
    if (time - this.latestAt < ORIGIN_GRACE_MS) this.latestAt = now;
    if (time - this.othersAt < ORIGIN_GRACE_MS) this.othersAt = now;
  }

  /** Whether a call of a client other than this one ended within `ORIGIN_GRACE_MS`. */
  hasOtherThan(client: ClientKey | undefined): boolean {
    const isLatestClient = client !== undefined && client === this.latestClient;
    const endedAt = isLatestClient ? this.othersAt : this.latestAt;
    return performance.now() - endedAt < ORIGIN_GRACE_MS;
  }
}
