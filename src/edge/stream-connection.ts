import type { ServerResponse } from 'node:http';
import { IterationBudget } from '../lib/slices/iteration-budget.js';

/** Large events are written in chunks. A client that reads a chunk from time to time does not count as stuck. */
const MAX_CHUNK_BYTES = 65_536;
/**
 * Maximum bytes that all connections together write after 'drain' events in one iteration of the event loop. The first chunk
 * of an event is written before any 'drain' event and does not count.
 */
const MAX_BYTES_PER_ITERATION = 1_048_576;
/** Copying a byte to the kernel takes about this time. Converts bytes to time, because `IterationBudget` limits time. */
const MS_PER_BYTE = 4 / MAX_BYTES_PER_ITERATION;
const laterChunksBudget = new IterationBudget(MAX_BYTES_PER_ITERATION * MS_PER_BYTE);
const NO_BYTES = Buffer.alloc(0);
const NO_PARTS: readonly Buffer[] = [];

interface ConnectionListener {
  drained(): void;
  closed(connection: StreamConnection): void;
}

/** One connection of a stream. If the client reads nothing for `stuckMs`, the connection is destroyed. */
export class StreamConnection {
  /** An event has one or more parts. These are the unwritten bytes of the part that is being written. */
  private currentPart: Buffer = NO_BYTES;
  private laterParts: readonly Buffer[] = NO_PARTS;
  /** Whether the rest of the current event waits for a later iteration of the event loop. */
  private isWaiting = false;
  private isEnding = false;
  /** Runs while the socket is full, and from the end of the response until the connection is closed. */
  private stuckTimer: NodeJS.Timeout | undefined;
  /** Whether the connection was destroyed because the client read nothing. */
  isStuck = false;

  constructor(
    private readonly response: ServerResponse,
    private readonly stuckMs: number,
    private readonly listener: ConnectionListener,
    private readonly budget = laterChunksBudget,
  ) {
    response.on('drain', () => this.drained());
    response.once('close', () => this.closed());
  }

  /** Whether nothing may be written, because the socket is full or the response has ended. */
  get isBlocked(): boolean {
    return this.stuckTimer !== undefined;
  }

  get unwrittenBytes(): number {
    return this.laterParts.reduce((sum, { length }) => sum + length, this.currentPart.length);
  }

  get isEnded(): boolean {
    return this.response.writableEnded;
  }

  /** Writes an event. Must not be called while the connection is blocked. */
  write(firstPart: Buffer, laterParts: readonly Buffer[] = NO_PARTS): void {
    this.currentPart = firstPart;
    this.laterParts = laterParts;
    this.writeChunks();
  }

  /** Ends the response after the last event has been written. Idempotent. */
  end(): void {
    this.isEnding = true;
    if (this.unwrittenBytes === 0) this.finish();
  }

  private writeChunks(): void {
    while (this.currentPart.length > 0 && !this.isBlocked) {
      const isLastOfPart = this.currentPart.length <= MAX_CHUNK_BYTES;
      const chunk = isLastOfPart ? this.currentPart : this.currentPart.subarray(0, MAX_CHUNK_BYTES);
      if (isLastOfPart) this.takeNextPart();
      else this.currentPart = this.currentPart.subarray(MAX_CHUNK_BYTES);
      if (!this.response.write(chunk)) this.startStuckTimer();
    }
  }

  private takeNextPart(): void {
    this.currentPart = this.laterParts[0] ?? NO_BYTES;
    if (this.laterParts.length > 0) this.laterParts = this.laterParts.slice(1);
  }

  private finish(): void {
    if (this.isEnded) return;
    this.response.end();
    // After end() there is no 'drain' event. The 'close' event, after the client has read everything, stops the timer.
    this.startStuckTimer();
  }

  private startStuckTimer(): void {
    this.stuckTimer ??= setTimeout(() => this.destroyStuck(), this.stuckMs).unref();
  }

  private clearStuckTimer(): void {
    clearTimeout(this.stuckTimer);
    this.stuckTimer = undefined;
  }

  private destroyStuck(): void {
    this.isStuck = true;
    this.response.destroy();
  }

  private drained(): void {
    if (this.isWaiting) return;
    if (this.currentPart.length === 0) {
      this.resume();
      return;
    }
    this.isWaiting = true;
    if (!this.budget.tryRun(this.writeRest)) this.budget.runLater(this.writeRest);
  }

  private readonly writeRest = (): void => {
    this.isWaiting = false;
    this.budget.charge(Math.min(this.currentPart.length, MAX_CHUNK_BYTES) * MS_PER_BYTE);
    this.resume();
  };

  private resume(): void {
    if (this.response.destroyed) return;
    this.clearStuckTimer();
    this.writeChunks();
    if (this.isBlocked) return;
    if (this.isEnding) this.finish();
    else this.listener.drained();
  }

  private closed(): void {
    this.clearStuckTimer();
    this.listener.closed(this);
  }
}
