import type { Writable } from 'node:stream';

/** Maximum size of the lines that the reader has not read yet. Further lines are dropped and counted. */
const MAX_BUFFERED_BYTES = 1_048_576;

/**
 * Why a line was not written. `closed`: the reader has closed its end, or the disk is full. `full`: the reader does not
 * read.
 */
type LogFailure = 'closed' | 'full';

/**
 * Writes log lines to stderr. Node writes to a pipe without blocking and keeps the lines that the reader has not read in
 * memory. If the reader closes its end or does not read, lines are lost, but the gateway is not affected.
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

  /** The callback of a stream's `write`: counts the line if writing it has failed. */
  readonly countFailure = (error?: Error | null): void => {
    if (error) this.failures.closed++;
  };

  /** The number of lines that were not written, by reason, as readings of a metric. */
  *lost(): Generator<[{ readonly reason: string }, number]> {
    for (const [reason, lines] of Object.entries(this.failures)) yield [{ reason }, lines];
  }
}
