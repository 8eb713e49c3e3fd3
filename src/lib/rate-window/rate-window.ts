const WINDOW_MS = 1000;

/** Allows a number of events in each second and counts the others. */
export class RateWindow {
  private startedAt = -Infinity;
  private allowed = 0;
  private refused = 0;

  constructor(private readonly maxPerSecond: number) {}

  /** Undefined when the event is refused. Otherwise the number of events that were refused since the last allowed one. */
  take(now = performance.now()): number | undefined {
    if (now - this.startedAt >= WINDOW_MS) {
      this.startedAt = now;
      this.allowed = 0;
    }
    if (this.allowed >= this.maxPerSecond) {
      this.refused++;
      return undefined;
    }
    this.allowed++;
    const { refused } = this;
    this.refused = 0;
    return refused;
  }
}
