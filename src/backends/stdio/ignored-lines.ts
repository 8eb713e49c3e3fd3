const REPORTED_AT_FIRST = 3;
const REPORT_EVERY_MS = 10_000;
const SHOWN_BYTES = 120;

/** Counts lines that are no messages and words a report about them, seldom enough that a flood stays quiet. */
export class IgnoredLines {
  count = 0;
  private lastReport = -Infinity;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** The report that is due with this line, if one is. */
  note(why: string, bytes: Buffer, start: number, end: number): Error | undefined {
    this.count++;
    if (this.count > REPORTED_AT_FIRST && this.now() - this.lastReport < REPORT_EVERY_MS) return undefined;
    this.lastReport = this.now();
    // As a JSON string, so that what the child wrote cannot forge lines or escapes in a log.
    const shown = JSON.stringify(bytes.toString('utf8', start, Math.min(end, start + SHOWN_BYTES)));
    return new Error(`line ${why}, ignored (${this.count} so far): ${shown}`);
  }
}
