import type { ServerResponse } from 'node:http';

/** Large events are written in parts, so that a client that reads slowly is not taken for one that reads nothing. */
const MAX_WRITE_BYTES = 65_536;
const NOTHING = Buffer.alloc(0);

interface ConnectionListener {
  drained(): void;
  closed(connection: StreamConnection): void;
}

/** One connection of a stream. Destroyed when the client reads nothing for too long, also after the stream ended. */
export class StreamConnection {
  /** The part of the last event that is not written yet. */
  private unwritten: Buffer = NOTHING;
  private isEnding = false;
  /** Runs while the socket is full, and after the end of the response until the connection is closed. */
  private stuckTimer: NodeJS.Timeout | undefined;
  /** Whether the connection was destroyed because the client read nothing. */
  isStuck = false;

  constructor(
    private readonly response: ServerResponse,
    private readonly stuckMs: number,
    private readonly listener: ConnectionListener,
  ) {
    response.on('drain', () => this.drained());
    response.once('close', () => this.closed());
  }

  /** Whether nothing may be written: the socket is full, or the response has ended. */
  get isBlocked(): boolean {
    return this.stuckTimer !== undefined;
  }

  get unwrittenBytes(): number {
    return this.unwritten.length;
  }

  get isEnded(): boolean {
    return this.response.writableEnded;
  }

  /** Must not be called while the connection is blocked. */
  write(bytes: Buffer): void {
    this.unwritten = bytes;
    this.writeParts();
  }

  /** Idempotent. The response ends when the last event is written. */
  end(): void {
    this.isEnding = true;
    if (this.unwritten.length === 0) this.finish();
  }

  private writeParts(): void {
    while (this.unwritten.length > 0 && !this.isBlocked) {
      const isLast = this.unwritten.length <= MAX_WRITE_BYTES;
      const part = isLast ? this.unwritten : this.unwritten.subarray(0, MAX_WRITE_BYTES);
      this.unwritten = isLast ? NOTHING : this.unwritten.subarray(MAX_WRITE_BYTES);
      if (!this.response.write(part)) this.startStuckTimer();
    }
  }

  private finish(): void {
    if (this.isEnded) return;
    this.response.end();
    // After end() there is no 'drain'. 'close' follows when the client has read everything, and stops the timer.
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
    this.writeParts();
    if (this.isBlocked) return;
    if (this.isEnding) this.finish();
    else this.listener.drained();
  }

  private closed(): void {
    this.clearStuckTimer();
    this.listener.closed(this);
  }
}
