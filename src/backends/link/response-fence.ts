import { Waiters } from '../../lib/listeners/waiters.js';
import { LatestEnds, type ClientKey, type EndedCalls } from './ended-calls.js';

/** For this time after another client has called, each end of a call is followed by a ping. */
export const SHARED_USE_MS = 60_000;

/**
 * Pings the server. Calls `settled` before any later message is processed: with true when the server has responded, with false
 * when the ping has failed.
 */
export type Ping = (settled: (isAnswered: boolean) => void) => void;

interface FenceHost {
  readonly ping: Ping;
  /** Whether a call of another client of this principal is in flight. */
  hasOtherInFlight(client: ClientKey, principal: string): boolean;
}

/**
 * The ended calls of one link that may be the origin of messages that have not been read. On a link with one stream for
 * everything, the response to a ping shows that the messages have been read that the server had written before. The link
 * pings only while several clients of one principal call, and at most one ping is in flight. Without a response, an ended call
 * counts for `ORIGIN_GRACE_MS`.
 */
export class ResponseFence {
  /** Calls that ended before the ping in flight was sent. Empty when no ping is in flight. */
  private beforePing = new LatestEnds<ClientKey>();
  /** Calls that ended after the last ping was sent. */
  private afterPing = new LatestEnds<ClientKey>();
  private isPinging = false;
  /** Whether another ping is to follow the one in flight. */
  private isPingWanted = false;
  /** Whether a ping has failed. No call waits for a ping then. */
  private hasFailed = false;
  private readonly waiters = new Waiters();
  /** The client of the latest call. */
  private latestClient: ClientKey | undefined;
  /** When the calls of `latestClient` followed one of another client; -Infinity while only one client calls. */
  private switchedAt = -Infinity;

  constructor(
    private readonly host: FenceHost,
    private readonly ended: EndedCalls,
  ) {}

  /**
   * To be called before a call is sent. If no call of another client is in flight, the call should be sent when the returned
   * promise has resolved: many servers write the first message of a call before the response to a ping that they read together
   * with the call, and it could not be attributed. Undefined if there is nothing to wait for.
   */
  callBegins(client: ClientKey, principal: string): Promise<void> | undefined {
    if (client !== this.latestClient) {
      // Every call without a session counts as one of another client, also the next one.
      const hasNoSession = typeof client === 'number';
      if (hasNoSession || this.latestClient !== undefined) this.switchedAt = performance.now();
      this.latestClient = client;
    }
    if (this.afterPing.hasOtherThan(client)) this.requestPing(principal);
    if (!this.isPinging || this.hasFailed || !this.beforePing.hasOtherThan(client)) return undefined;
    return this.host.hasOtherInFlight(client, principal) ? undefined : this.waiters.wait();
  }

  /** While several clients call, the ping is sent at once and not with the next call, which then usually need not wait. */
  callEnded(client: ClientKey, principal: string): void {
    const now = performance.now();
    this.afterPing.add(client, now);
    if (this.switchedAt === -Infinity) return;
    if (now - this.switchedAt < SHARED_USE_MS || this.host.hasOtherInFlight(client, principal))
      this.requestPing(principal);
    else this.switchedAt = -Infinity;
  }

  /** Whether an unread message may belong to an ended call of a client other than this one. */
  hasOtherThan(client: ClientKey | undefined): boolean {
    return this.beforePing.hasOtherThan(client) || this.afterPing.hasOtherThan(client);
  }

  /** See `EndedCalls.renew`. */
  renew(time: number): void {
    this.beforePing.renew(time);
    this.afterPing.renew(time);
  }

  private requestPing(principal: string): void {
    // In these cases, a response would change nothing: the ended calls count for the whole grace.
    if (this.ended.late.areExpected || this.ended.hasOtherPrincipalThan(principal)) return;
    if (this.isPinging) this.isPingWanted = true;
    else this.sendPing();
  }

  private sendPing(): void {
    this.isPinging = true;
    this.isPingWanted = false;
    [this.beforePing, this.afterPing] = [this.afterPing, this.beforePing];
    this.host.ping((isAnswered) => this.settle(isAnswered));
  }

  private settle(isAnswered: boolean): void {
    this.isPinging = false;
    if (!isAnswered) {
      this.hasFailed = true;
      this.afterPing.addAll(this.beforePing);
    }
    this.beforePing.clear();
    this.waiters.release();
    if (this.isPingWanted) this.sendPing();
  }
}
