import type { ServerResponse } from 'node:http';

/** Bytes of an event that are written at once: who takes so many of a large one is slow, and not stuck. */
const SLICE = 65_536;
const NOTHING = Buffer.alloc(0);

/** What a connection tells the stream that it is of. */
export interface ConnectionListener {
  drained(): void;
  closed(connection: StreamConnection): void;
}

/**
 * One connection of a stream. It lets go of a reader that takes nothing for too long by itself: its stream, and the
 * session of that, may be over by then.
 */
export class StreamConnection {
  /** What is not yet written of the last event. */
  private unwritten: Buffer = NOTHING;
  private ending = false;
  /** There while the reader has something to take before more is written. */
  private stuckTimer: NodeJS.Timeout | undefined;
  isStuck = false;

  constructor(
    private readonly response: ServerResponse,
    private readonly stuckMs: number,
    private readonly listener: ConnectionListener,
  ) {
    response.on('drain', () => this.drained());
    response.once('close', () => this.closed());
  }

  get isBlocked(): boolean {
    return this.stuckTimer !== undefined;
  }

  /** Everything was written, which does not say that it was read. */
  get isEnded(): boolean {
    return this.response.writableEnded;
  }

  /** Only for one that is not blocked. */
  write(bytes: Buffer): void {
    this.unwritten = bytes;
    this.writeSlices();
  }

  /** Idempotent. Ends when the last event is written. */
  end(): void {
    this.ending = true;
    if (this.unwritten.length === 0) this.finish();
  }

  private writeSlices(): void {
    while (this.unwritten.length > 0 && !this.isBlocked) {
      const isLast = this.unwritten.length <= SLICE;
      const slice = isLast ? this.unwritten : this.unwritten.subarray(0, SLICE);
      this.unwritten = isLast ? NOTHING : this.unwritten.subarray(SLICE);
      if (!this.response.write(slice)) this.startStuckTimer();
    }
  }

  private finish(): void {
    if (this.isEnded) return;
    this.response.end();
    // No drain comes any more, but the close does once everything is taken.
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
    this.clearStuckTimer();
    this.writeSlices();
    if (this.isBlocked) return;
    if (this.ending) this.finish();
    else this.listener.drained();
  }

  private closed(): void {
    this.clearStuckTimer();
    this.listener.closed(this);
  }
}
