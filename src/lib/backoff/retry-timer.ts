import { Backoff, type BackoffLimits } from './backoff.js';

/** Runs a function once after a delay. Returns a function that cancels the run; it has no effect after the run. */
export type Schedule = (run: () => void, delayMs: number) => () => void;

/** A timer that does not keep the process alive. */
export const scheduleTimeout: Schedule = (run, delayMs) => {
  const timer = setTimeout(run, delayMs).unref();
  return () => clearTimeout(timer);
};

/** Schedules attempts with growing delays, one attempt at a time. */
export class RetryTimer {
  private readonly backoff: Backoff;
  private cancel: (() => void) | undefined;

  constructor(
    private readonly attempt: () => void,
    limits: BackoffLimits,
    private readonly schedule: Schedule = scheduleTimeout,
  ) {
    this.backoff = new Backoff(limits);
  }

  /** Plans the next attempt after the next delay. Has no effect if an attempt is planned already. */
  plan(): void {
    this.cancel ??= this.schedule(() => {
      this.cancel = undefined;
      this.attempt();
    }, this.backoff.next());
  }

  /**
   * Call this when an operation has succeeded: the next delay is the first one again. Has no effect while an attempt is
   * planned, because that attempt is for another operation, which has failed.
   */
  succeeded(): void {
    if (!this.cancel) this.backoff.reset();
  }

  stop(): void {
    this.cancel?.();
    this.cancel = undefined;
    this.backoff.reset();
  }
}
