export type UpstreamRequestKind = 'subscribe' | 'unsubscribe';

/** The actual state of one URI on one link. */
export class UriState {
  /** Whether the server holds the subscription. `unknown` during a request, and after an unclear outcome. */
  held: 'no' | 'unknown' | 'yes' = 'no';
  /** Desired and actual state are to be compared. */
  isDirty = false;
  /** A worker reconciles the URI. There is at most one, so that a URI has at most one request in flight. */
  isBusy = false;
  inFlight: UpstreamRequestKind | undefined;
  /** Updates may be lost: subscribers get one update when the server holds the subscription again. */
  hasMissedUpdates = false;
  /**
   * After a gap, for a subscription that was held before it: whether the server has sent an update since. If it has, it
   * still holds the subscription, and that update tells subscribers about those that were lost.
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
