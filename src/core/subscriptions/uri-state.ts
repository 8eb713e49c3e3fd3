import type { DesiredSubscriptions, UpstreamRequestKind } from './upstream.js';

/** The actual state of the upstream subscription to one URI on one link. */
export class UriState {
  /** Whether the server holds the subscription. `unknown`: a request is in flight, or its outcome is not clear. */
  held: 'no' | 'unknown' | 'yes' = 'no';
  /** The desired and the actual state have to be compared again. */
  isDirty = false;
  /** A worker is reconciling the URI. A URI has at most one worker, so that it has at most one request in flight. */
  isBusy = false;
  inFlight: UpstreamRequestKind | undefined;
  /** Updates may have been lost. Subscribers get one update as soon as the server holds the subscription again. */
  mayHaveMissedUpdates = false;
  /**
   * Set after a gap in the notifications of a subscription that the server held: whether the server has sent an update
   * of the resource since the gap (`updated`) or not (`silent`). With `updated`, subscribers need no extra update in
   * place of the lost ones.
   */
  sinceGap: 'silent' | 'updated' | undefined;
  /** The server no longer lists the resource. Background requests wait until the server lists it again. */
  isGone = false;
  /**
   * The resource was removed during the request in flight. Success does not prove that the server holds the
   * subscription.
   */
  isResponseStale = false;
  waiter: Waiter | undefined;
  cancelLinger: (() => void) | undefined;
  /** The linger is over: an unsubscribe follows if the URI is still not wanted. */
  hasLingered = false;

  constructor(readonly uri: string) {}

  /** Returns the request that has to be sent now, if any. Clears `isDirty` and `hasLingered`. */
  takeRequest(desired: DesiredSubscriptions): UpstreamRequestKind | undefined {
    const { isDirty, hasLingered, held } = this;
    this.isDirty = false;
    this.hasLingered = false;
    if (!isDirty) return undefined;
    if (!desired.isWanted(this.uri)) return hasLingered && held !== 'no' ? 'unsubscribe' : undefined;
    const mustWaitForListing = this.isGone && !this.waiter;
    return held === 'yes' || mustWaitForListing ? undefined : 'subscribe';
  }

  /** The server no longer lists the resource. */
  markGone(): void {
    this.isResponseStale = this.inFlight === 'subscribe';
    this.isGone = true;
    this.mayHaveMissedUpdates = true;
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
    // If all clients have left, the promise has no other handler, and an unhandled rejection would end the process.
    this.promise.catch(() => undefined);
  }
}
