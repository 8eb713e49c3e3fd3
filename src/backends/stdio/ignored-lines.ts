import { TokenBucket } from '../../lib/token-bucket/token-bucket.js';

const REPORTS = { burst: 3, refill: 1, intervalMs: 10_000 };

/** Counts lines that are not messages and rate-limits the reports about them. */
export class IgnoredLines {
  count = 0;
  private readonly reports = new TokenBucket(REPORTS);

  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * Counts a line. Returns a report about it, or undefined if there were too many reports. The report does not quote the line,
   * which may contain secrets of the server.
   */
  add(why: string, bytes: number): Error | undefined {
    this.count++;
    if (this.reports.take(this.now()) === undefined) return undefined;
    return new Error(`line of ${bytes} bytes ${why}, ignored (${this.count} so far)`);
  }
}
