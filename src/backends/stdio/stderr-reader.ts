import type { Readable } from 'node:stream';
import { inputBudget, type IterationBudget } from '../../lib/slices/iteration-budget.js';
import type { StderrTail } from './stderr-tail.js';

/** The part of the time for which stderr is read. A child that writes faster waits. */
const READ_SHARE = 0.2;
/** Estimated number of bytes that the event loop reads in a millisecond. The time to process the lines is measured. */
const BYTES_PER_MS = 1_048_576;
/**
 * The longest pause. It must be shorter than `OUTPUT_TIMEOUT_MS` of the stdio transport: a child's output is read only for that
 * time after the exit of the child.
 */
const MAX_PAUSE_MS = 50;

/** Reads what a child writes to stderr, so that the child does not block, but not so much that other work has to wait. */
export class StderrReader {
  /** The sum of the pauses that were too short for a timer so far. */
  private dueMs = 0;

  constructor(
    private readonly stderr: Readable,
    private readonly tail: Pick<StderrTail, 'push'>,
    private readonly budget: IterationBudget = inputBudget,
  ) {
    stderr.on('data', (chunk: Buffer) => this.read(chunk));
  }

  private read(chunk: Buffer): void {
    const startedAt = performance.now();
    this.tail.push(chunk);
    const ms = performance.now() - startedAt + chunk.length / BYTES_PER_MS;
    this.dueMs = Math.min(MAX_PAUSE_MS, this.dueMs + ms * (1 / READ_SHARE - 1));
    // Without a pause, libuv reads up to 32 chunks in one iteration of the event loop, even if its budget is used up.
    if (!this.budget.charge(ms) && this.dueMs < 1) return;
    this.stderr.pause();
    setTimeout(() => this.stderr.resume(), this.dueMs).unref();
    this.dueMs = 0;
  }
}
