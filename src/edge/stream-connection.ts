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
  private rest: Buffer = NOTHING;
  private ending = false;
  /** There while the reader has something to take before more is written. */
  private patience: NodeJS.Timeout | undefined;
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
    return this.patience !== undefined;
  }

  /** Everything was written, which does not say that it was read. */
  get isEnded(): boolean {
    return this.response.writableEnded;
  }

  /** Only for one that is not blocked. */
  write(bytes: Buffer): void {
    this.rest = bytes;
    this.writeRest();
  }

  /** Idempotent. Ends when the last event is written. */
  end(): void {
    this.ending = true;
    if (this.rest.length === 0) this.finish();
  }

  private writeRest(): void {
    while (this.rest.length > 0 && !this.isBlocked) {
      const isLast = this.rest.length <= SLICE;
      const slice = isLast ? this.rest : this.rest.subarray(0, SLICE);
      this.rest = isLast ? NOTHING : this.rest.subarray(SLICE);
      if (!this.response.write(slice)) this.wait();
    }
  }

  private finish(): void {
    if (this.isEnded) return;
    this.response.end();
    // No drain comes any more, but the close does once everything is taken.
    this.wait();
  }

  private wait(): void {
    this.patience ??= setTimeout(() => this.letGo(), this.stuckMs).unref();
  }

  private stopWaiting(): void {
    clearTimeout(this.patience);
    this.patience = undefined;
  }

  private letGo(): void {
    this.isStuck = true;
    this.response.destroy();
  }

  private drained(): void {
    this.stopWaiting();
    this.writeRest();
    if (this.isBlocked) return;
    if (this.ending) this.finish();
    else this.listener.drained();
  }

  private closed(): void {
    this.stopWaiting();
    this.listener.closed(this);
  }
}
