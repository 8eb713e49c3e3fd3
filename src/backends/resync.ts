/** A burst of change notices is taken as one, and no server is listed more often than once in a while. */
const QUIET_MS = 100;
const APART_MS = 1000;

/** Turns any number of requests to sync into single-flight runs, never closer together than `APART_MS`. */
export class Resync {
  private timer: NodeJS.Timeout | undefined;
  private running = false;
  private again = false;
  private lastStart = -Infinity;
  private stopped = false;

  constructor(private readonly run: () => Promise<void>) {}

  /** Runs at once, or right after the run there is. */
  now(): void {
    clearTimeout(this.timer);
    if (this.running) this.again = true;
    else if (!this.stopped) void this.start();
  }

  request(): void {
    if (this.stopped) return;
    if (this.running) {
      this.again = true;
      return;
    }
    if (this.timer) return;
    const sinceLast = performance.now() - this.lastStart;
    this.timer = setTimeout(() => void this.start(), Math.max(QUIET_MS, APART_MS - sinceLast));
    this.timer.unref();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private async start(): Promise<void> {
    this.timer = undefined;
    this.running = true;
    this.lastStart = performance.now();
    try {
      await this.run();
    } finally {
      this.running = false;
      if (this.again) {
        this.again = false;
        this.request();
      }
    }
  }
}
