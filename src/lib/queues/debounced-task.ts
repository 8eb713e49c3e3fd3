import { Waiters } from '../listeners/waiters.js';

interface DebounceTimes {
  /** Delay between a request and its run, so that a burst of requests causes one run. */
  readonly debounceMs: number;
  /** Minimum time between the starts of two runs. `runNow` does not wait for it. */
  readonly minIntervalMs: number;
}

/** Runs a task on request, one run at a time. Requests in a burst share one run. */
export class DebouncedTask {
  private timer: NodeJS.Timeout | undefined;
  /** Time of the next run; Infinity if none is scheduled. */
  private nextRunAt = Infinity;
  private isRunning = false;
  private lastStartedAt = -Infinity;
  private isStopped = false;
  /** The callers that wait for the end of the next run. */
  private waiters = new Waiters();

  constructor(
    private readonly run: () => Promise<void>,
    private readonly times: DebounceTimes,
  ) {}

  /** Runs now, or right after the active run. */
  runNow(): void {
    this.scheduleAt(performance.now());
  }

  /**
   * Schedules a run after `delayMs`, or later if the minimum interval requires it. Has no effect if a run is scheduled
   * before that time.
   */
  schedule(delayMs = this.times.debounceMs): void {
    this.scheduleAt(Math.max(performance.now() + delayMs, this.lastStartedAt + this.times.minIntervalMs));
  }

  /** Runs as soon as the minimum interval allows it. Resolves after this run, or when the task is stopped. */
  async scheduled(): Promise<void> {
    if (this.isStopped) return;
    const ended = this.waiters.wait();
    this.schedule(0);
    await ended;
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.waiters.release();
  }

  private scheduleAt(time: number): void {
    if (time >= this.nextRunAt) return;
    this.nextRunAt = time;
    if (!this.isRunning) this.startOrSetTimer();
  }

  /** Starts the scheduled run now, or sets the timer for it. */
  private startOrSetTimer(): void {
    clearTimeout(this.timer);
    if (this.isStopped || this.nextRunAt === Infinity) return;
    const delayMs = this.nextRunAt - performance.now();
    if (delayMs <= 0) void this.start();
    else this.timer = setTimeout(() => void this.start(), delayMs).unref();
  }

  private async start(): Promise<void> {
    this.nextRunAt = Infinity;
    this.isRunning = true;
    this.lastStartedAt = performance.now();
    const { waiters } = this;
    this.waiters = new Waiters();
    try {
      await this.run();
    } finally {
      waiters.release();
      this.isRunning = false;
      this.startOrSetTimer();
    }
  }
}
