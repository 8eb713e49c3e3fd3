/** Bounds of the estimate. */
const MIN_MS = 100;
const MAX_MS = 60_000;
/** The estimate until the first call has ended. */
const UNKNOWN_MS = 1000;

/** Estimates how long queued calls have to wait, from the rate at which calls have ended since the queue was last empty. */
export class QueueTimeEstimate {
  private startedAt = 0;
  private endedCalls = 0;

  /** To be called when a call is added to the empty queue. */
  start(): void {
    this.startedAt = performance.now();
    this.endedCalls = 0;
  }

  /** To be called whenever a call has ended, whether or not it was queued. */
  callEnded(): void {
    this.endedCalls++;
  }

  /** The estimated time until this number of queued calls have started. */
  retryAfterMs(queuedCalls: number): number {
    if (this.endedCalls === 0) return UNKNOWN_MS;
    const msPerCall = (performance.now() - this.startedAt) / this.endedCalls;
    return Math.round(Math.min(Math.max(queuedCalls * msPerCall, MIN_MS), MAX_MS));
  }
}
