export type UpstreamRequestKind = 'subscribe' | 'unsubscribe';

/** The actual state of one URI on one link. */
export class UriState {
  /** Whether the server holds the subscription. A request without a clear answer leaves `unknown`. */
  held: 'no' | 'unknown' | 'yes' = 'no';
  /** Desired and actual state are to be compared. */
  isDirty = false;
  /** A worker compares them. At most one does, so that a URI has at most one request on the wire. */
  isBusy = false;
  inFlight: UpstreamRequestKind | undefined;
  /** Subscribers are owed an update when the server holds it again. */
  hasMissedUpdates = false;
  /** The server no longer lists the resource: background requests wait until it does. */
  isGone = false;
  /** The resource was removed during the request: a success does not prove that the server holds the subscription. */
  isAnswerStale = false;
  waiter: Waiter | undefined;
  cancelLinger: (() => void) | undefined;
  /** The linger is over, and the unsubscribe is due unless the URI is wanted again. */
  hasLingered = false;

  constructor(readonly uri: string) {}
}

/** The shared outcome of all clients that wait for the same URI. */
export class Waiter {
  resolve!: () => void;
  reject!: (error: unknown) => void;
  readonly promise = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    // The clients may all have left by then: a rejection without a recipient must not end the process.
    this.promise.catch(() => undefined);
  }
}
