/** How long after its end a call may still be the origin of messages that the server sends outside its response stream. */
export const ORIGIN_GRACE_MS = 1000;

/** Identifies the client of a call: the id of its session, or without a session the id of the request. */
export type ClientKey = string | number;

/** The clients whose calls ended on one link within the last second. Takes constant memory, and keeps no session alive. */
export class EndedCalls {
  private latest: ClientKey | undefined;
  private latestAt = -Infinity;
  /** When the last call of a client other than the latest one ended. */
  private othersAt = -Infinity;

  add(client: ClientKey): void {
    if (client !== this.latest) this.othersAt = this.latestAt;
    this.latest = client;
    this.latestAt = performance.now();
  }

  /** Whether a call of another client ended within the grace. */
  hasOtherThan(client: ClientKey | undefined): boolean {
    const endedAt = client !== undefined && client === this.latest ? this.othersAt : this.latestAt;
    return performance.now() - endedAt < ORIGIN_GRACE_MS;
  }
}
