const MIN_MS = 100;
const MAX_MS = 60_000;
/** The estimate while no call has ended since the queue began to grow. */
const UNKNOWN_MS = 1000;

/** Estimates how long a queue takes to drain, from the calls that ended since the queue was empty. */
export class DrainEstimate {
  private startedAt = 0;
  private endedCalls = 0;

  /** To be called when the first call is queued. */
  start(): void {
    this.startedAt = performance.now();
    this.endedCalls = 0;
  }

  callEnded(): void {
    this.endedCalls++;
  }

  retryAfterMs(waiting: number): number {
    if (this.endedCalls === 0) return UNKNOWN_MS;
    const estimate = (waiting * (performance.now() - this.startedAt)) / this.endedCalls;
    return Math.round(Math.min(Math.max(estimate, MIN_MS), MAX_MS));
  }
}
