const INITIAL_REPORTS = 3;
const REPORT_INTERVAL_MS = 10_000;

/** Counts lines that are not messages and rate-limits the reports about them. */
export class IgnoredLines {
  count = 0;
  private lastReport = -Infinity;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * Counts a line. Returns the report, or undefined while reports are limited. The report does not quote the line, which
   * may contain secrets of the server.
   */
  add(why: string, bytes: number): Error | undefined {
    this.count++;
    if (this.count > INITIAL_REPORTS && this.now() - this.lastReport < REPORT_INTERVAL_MS) return undefined;
    this.lastReport = this.now();
    return new Error(`line of ${bytes} bytes ${why}, ignored (${this.count} so far)`);
  }
}
