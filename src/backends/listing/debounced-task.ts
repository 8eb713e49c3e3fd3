/** A burst of change notices is taken as one, and no server is listed more often than once in a while. */
const DEBOUNCE_MS = 100;
const MIN_INTERVAL_MS = 1000;

/** Turns any number of requests to sync into single-flight runs, never closer together than `APART_MS`. */
export class DebouncedTask {
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Infinity;
  private running = false;
  private lastStart = -Infinity;
  private stopped = false;

  constructor(private readonly run: () => Promise<void>) {}

  /** Runs at once, or right after the run there is. */
  runNow(): void {
    this.plan(performance.now());
  }

  schedule(delayMs = DEBOUNCE_MS): void {
    this.plan(Math.max(performance.now() + delayMs, this.lastStart + MIN_INTERVAL_MS));
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private plan(at: number): void {
    if (at >= this.dueAt) return;
    this.dueAt = at;
    if (!this.running) this.wait();
  }

  private wait(): void {
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
      this.wait();
    }
  }
}
