import type { Writable } from 'node:stream';

/** Maximum size of the lines that wait for a reader which does not read. Further lines are dropped and counted. */
const MAX_BUFFERED_BYTES = 1_048_576;

/** Why lines are not written. `closed`: the reader closed its end, or the disk is full. `full`: the reader does not read. */
type LogFailure = 'closed' | 'full';

/**
 * Writes log lines to stderr; stdout is reserved for the line with the URL. Node writes to a pipe without blocking, and keeps
 * in memory what a reader has not read. A reader that closes its end or does not read loses lines; nothing else is affected.
 */
export class LogOutput {
  private readonly failures: Record<LogFailure, number> = { closed: 0, full: 0 };

  constructor(private readonly stream: Writable = process.stderr) {
    // Without a listener, a failed write would end the process.
    stream.on('error', () => {});
  }

  readonly write = (line: string): void => {
    if (this.stream.writableLength > MAX_BUFFERED_BYTES) this.failures.full++;
    else this.stream.write(line, this.countFailure);
  };

  /** Counts a line whose write failed. */
  readonly countFailure = (error?: Error | null): void => {
    if (error) this.failures.closed++;
  };

  /** By reason: the number of lines that were not written. */
  *lost(): Generator<[{ readonly reason: string }, number]> {
    for (const [reason, lines] of Object.entries(this.failures)) yield [{ reason }, lines];
  }
}
