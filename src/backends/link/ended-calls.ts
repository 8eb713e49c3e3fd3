/**
 * How long after its end a call may still be the origin of messages that the server sends outside its response stream.
 * If the stream of such messages was paused or interrupted, this time starts when it is read again.
 */
export const ORIGIN_GRACE_MS = 1000;

/** Identifies the client of a call: the id of its session, or without a session the id of the request. */
export type ClientKey = string | number;

/** The last end for one key, and the last one for all other keys. */
class LatestEnds<Key> {
  private latest: Key | undefined;
  private latestAt = -Infinity;
  /** When the last call with a key other than the latest one ended. */
  private othersAt = -Infinity;

  add(key: Key, endedAt: number): void {
    if (key !== this.latest && endedAt < this.latestAt) {
      this.othersAt = Math.max(this.othersAt, endedAt);
      return;
    }
    if (key !== this.latest) this.othersAt = this.latestAt;
    this.latest = key;
    this.latestAt = Math.max(this.latestAt, endedAt);
  }

  renew(time: number): void {
    const now = performance.now();
    if (time - this.latestAt < ORIGIN_GRACE_MS) this.latestAt = now;
    if (time - this.othersAt < ORIGIN_GRACE_MS) this.othersAt = now;
  }

  hasOtherThan(key: Key | undefined): boolean {
    const endedAt = key !== undefined && key === this.latest ? this.othersAt : this.latestAt;
    return performance.now() - endedAt < ORIGIN_GRACE_MS;
  }
}

/**
 * The clients whose calls ended on the links of one server within the last second, and their principals. Takes constant
 * memory, and keeps no session alive.
 */
export class EndedCalls {
  private readonly clients = new LatestEnds<ClientKey>();
  private readonly principals = new LatestEnds<string>();

  /** `principal` is the key under which limits per principal count. `endedAt` may be before the ends of calls that were added earlier. */
  add(client: ClientKey, principal: string, endedAt = performance.now()): void {
    this.clients.add(client, endedAt);
    this.principals.add(principal, endedAt);
  }

  /** Messages that are read from now on may have been sent since `time`: calls that may be their origin count as ended now. */
  renew(time: number): void {
    this.clients.renew(time);
    this.principals.renew(time);
  }

  /** Whether a call of another client ended within the grace. */
  hasOtherClientThan(client: ClientKey | undefined): boolean {
    return this.clients.hasOtherThan(client);
  }

  /** Whether a call of a client of another principal ended within the grace. */
  hasOtherPrincipalThan(principal: string | undefined): boolean {
    return this.principals.hasOtherThan(principal);
  }
}
