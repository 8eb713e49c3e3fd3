import { Backoff, type BackoffLimits } from './backoff.js';

/** Runs a function once after a delay. The returned function cancels the run; after the run it has no effect. */
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

  /** Plans an attempt, unless one is planned already. */
  plan(): void {
    this.cancel ??= this.schedule(() => {
      this.cancel = undefined;
      this.attempt();
    }, this.backoff.next());
  }

  /** Resets the delay. Has no effect while an attempt is planned, because then something has failed since the success. */
  succeeded(): void {
    if (!this.cancel) this.backoff.reset();
  }

  stop(): void {
    this.cancel?.();
    this.cancel = undefined;
    this.backoff.reset();
  }
}
