const INITIAL_REPORTS = 3;
const REPORT_INTERVAL_MS = 10_000;
const MAX_SHOWN_BYTES = 120;

/** Counts lines that are not messages and rate-limits the reports about them. */
export class IgnoredLines {
  count = 0;
  private lastReport = -Infinity;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Counts a line. Returns its report, or undefined while reports are limited. */
  add(why: string, bytes: Buffer, start: number, end: number): Error | undefined {
    this.count++;
    if (this.count > INITIAL_REPORTS && this.now() - this.lastReport < REPORT_INTERVAL_MS) return undefined;
    this.lastReport = this.now();
    // As a JSON string, so that the child cannot write line breaks or terminal escapes into a log.
    const shown = JSON.stringify(bytes.toString('utf8', start, Math.min(end, start + MAX_SHOWN_BYTES)));
    return new Error(`line ${why}, ignored (${this.count} so far): ${shown}`);
  }
}
