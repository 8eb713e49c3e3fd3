interface DebounceTimes {
  /** Delay of a scheduled run, so that a burst of requests causes one run. */
  readonly debounceMs: number;
  /** Minimum time between the starts of two scheduled runs. */
  readonly minIntervalMs: number;
}

/** Merges any number of requests into runs of one task, of which one is active at a time. */
export class DebouncedTask {
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Infinity;
  private running = false;
  private lastStart = -Infinity;
  private stopped = false;

  constructor(
    private readonly run: () => Promise<void>,
    private readonly times: DebounceTimes,
  ) {}

  /** Runs now, or right after the active run. */
  runNow(): void {
    this.plan(performance.now());
  }

  schedule(delayMs = this.times.debounceMs): void {
    this.plan(Math.max(performance.now() + delayMs, this.lastStart + this.times.minIntervalMs));
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private plan(at: number): void {
    if (at >= this.dueAt) return;
    this.dueAt = at;
    if (!this.running) this.startWhenDue();
  }

  private startWhenDue(): void {
    clearTimeout(this.timer);
    if (this.stopped || this.dueAt === Infinity) return;
    const ms = this.dueAt - performance.now();
    if (ms <= 0) void this.start();
    else this.timer = setTimeout(() => void this.start(), ms).unref();
  }

  private async start(): Promise<void> {
    this.dueAt = Infinity;
    this.running = true;
    this.lastStart = performance.now();
    try {
      await this.run();
    } finally {
      this.running = false;
      this.startWhenDue();
    }
  }
}
