/**
 * How long after its end a call may still be the origin of messages that the server sends outside its response stream.
 * If the stream of such messages was paused or interrupted, this time starts when it is read again.
 */
export const ORIGIN_GRACE_MS = 1000;

/** Identifies the client of a call: the id of its session, or without a session the id of the request. */
export type ClientKey = string | number;

/** The clients whose calls ended on the links of one server within the last second. Takes constant memory, and keeps no session alive. */
export class EndedCalls {
  private latest: ClientKey | undefined;
  private latestAt = -Infinity;
  /** When the last call of a client other than the latest one ended. */
  private othersAt = -Infinity;

  /** `endedAt` may be before the ends of calls that were added earlier. */
  add(client: ClientKey, endedAt = performance.now()): void {
    if (client !== this.latest && endedAt < this.latestAt) {
      this.othersAt = Math.max(this.othersAt, endedAt);
      return;
    }
    if (client !== this.latest) this.othersAt = this.latestAt;
    this.latest = client;
    this.latestAt = Math.max(this.latestAt, endedAt);
  }

  /** Messages that are read from now on may have been sent since `time`: calls that may be their origin count as ended now. */
  renew(time: number): void {
    const now = performance.now();
    if (time - this.latestAt < ORIGIN_GRACE_MS) this.latestAt = now;
    if (time - this.othersAt < ORIGIN_GRACE_MS) this.othersAt = now;
  }

  /** Whether a call of another client ended within the grace. */
  hasOtherThan(client: ClientKey | undefined): boolean {
    const endedAt = client !== undefined && client === this.latest ? this.othersAt : this.latestAt;
    return performance.now() - endedAt < ORIGIN_GRACE_MS;
  }
}
