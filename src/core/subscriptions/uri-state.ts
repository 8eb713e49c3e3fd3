import type { DesiredSubscriptions, UpstreamRequestKind } from './upstream.js';

/** The actual state of one URI on one link. */
export class UriState {
  /** Whether the server holds the subscription. `unknown` during a request, and after an unclear outcome. */
  held: 'no' | 'unknown' | 'yes' = 'no';
  /** The desired and the actual state have to be compared again. */
  isDirty = false;
  /** A worker reconciles the URI. There is at most one, so that a URI has at most one request in flight. */
  isBusy = false;
  inFlight: UpstreamRequestKind | undefined;
  /** Updates may be lost: subscribers get one update when the server holds the subscription again. */
  hasMissedUpdates = false;
  /**
   * Set after a gap in the notifications, if the server held the subscription before: whether it has sent an update
   * since. An update shows that the server still holds the subscription, and stands for the updates that were lost.
   */
  sinceGap: 'silent' | 'updated' | undefined;
  /** The server no longer lists the resource: background requests wait until it does. */
  isGone = false;
  /** The resource was removed during the request: a success does not prove that the server holds the subscription. */
  isResponseStale = false;
  waiter: Waiter | undefined;
  cancelLinger: (() => void) | undefined;
  /** The linger is over: an unsubscribe is due, unless the URI is wanted again. */
  hasLingered = false;

  constructor(readonly uri: string) {}

  /** The request that is to be sent now to bring the actual state closer to the desired one, if any. Clears `isDirty`. */
  takeRequest(desired: DesiredSubscriptions): UpstreamRequestKind | undefined {
    const { isDirty, hasLingered, held } = this;
    this.isDirty = false;
    this.hasLingered = false;
    if (!isDirty) return undefined;
    if (!desired.isWanted(this.uri)) return hasLingered && held !== 'no' ? 'unsubscribe' : undefined;
    const mustWaitForListing = this.isGone && !this.waiter;
    return held === 'yes' || mustWaitForListing ? undefined : 'subscribe';
  }

  markGone(): void {
    this.isResponseStale = this.inFlight === 'subscribe';
    this.isGone = true;
    this.hasMissedUpdates = true;
    this.sinceGap = undefined;
  }

  stopLinger(): void {
    this.cancelLinger?.();
    this.cancelLinger = undefined;
    this.hasLingered = false;
  }
}

/** The outcome of a subscribe request, shared by all clients that wait for the same URI. */
export class Waiter {
  resolve!: () => void;
  reject!: (error: unknown) => void;
  readonly promise = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    // All clients may have left before the rejection: an unhandled rejection would end the process.
    this.promise.catch(() => undefined);
  }
}
