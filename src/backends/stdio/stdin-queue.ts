import type { Writable } from 'node:stream';
import { onOneLine } from '../../lib/json-text/json-text.js';
import { TransportError, type TransportFault } from '../link/transport.js';
import type { StdioLimits } from './stdio-server.js';

/**
 * Maximum bytes of the lines that are written together, unless one line is longer. Until the child reads these lines, an encoded
 * copy of them is in memory too.
 */
const MAX_BATCH_BYTES = 256 * 1024;

interface QueuedLine {
  readonly text: string;
  /** Size of the line with its line break. */
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: TransportError) => void;
}

/**
 * Writes lines to a child's stdin. Lines that are queued in the same tick are written together. While the child does not
 * read, lines wait in the queue, up to its limits; after `writeTimeoutMs`, `blocked` is called. When the pipe breaks, all lines
 * wait until `fail` or `end` is called with the reason, which is usually the exit of the child.
 */
export class StdinQueue {
  private waiting: QueuedLine[] = [];
  private waitingBytes = 0;
  /** The batch that the kernel has not fully accepted, and the lines of failed writes. */
  private blocked: readonly QueuedLine[] = [];
  private blockedBytes = 0;
  private blockedTimer: NodeJS.Timeout | undefined;
  private isFlushScheduled = false;
  /** Why no further line is accepted. */
  private closeReason: string | undefined;
  /** Whether a write has failed. */
  private isBroken = false;
  /** Whether `fail` was called. */
  private hasFailed = false;

  constructor(
    private readonly stdin: Writable,
    private readonly limits: StdioLimits,
    private readonly events: {
      /** The child has not read a batch for `writeTimeoutMs`. */
      blocked(): void;
      /** A write has failed, so the child does not read any more. The listener must later call `fail` or `end`. */
      broken(): void;
    },
  ) {
    stdin.on('error', () => {
      this.isBroken = true;
      clearTimeout(this.blockedTimer);
      events.broken();
    });
  }

  /** Resolves when the kernel has accepted the line. */
  push(message: string): Promise<void> {
    if (this.closeReason !== undefined) return rejected('unreachable', this.closeReason);
    const text = onOneLine(message);
    const bytes = Buffer.byteLength(text) + 1;
    if (!this.hasRoom(bytes)) this.flush();
    if (!this.hasRoom(bytes)) return rejected('busy', 'does not read its stdin fast enough');
    return new Promise((resolve, reject) => {
      this.waiting.push({ text, bytes, resolve, reject });
      this.waitingBytes += bytes;
      if (this.isFlushScheduled) return;
      this.isFlushScheduled = true;
      // Deferred, so that further lines of the same tick join this write.
      process.nextTick(() => this.flush());
    });
  }

  /** Closes stdin after the queued lines. Later lines are rejected with this reason. */
  end(reason: string): void {
    this.closeReason ??= reason;
    if (this.isBroken) this.fail(this.closeReason, 'unreachable');
    else this.flush();
  }

  /** Rejects waiting lines with `fault`, and the blocked batch with `broken`, because the child may have read a part of it. */
  fail(reason: string, fault: TransportFault): void {
    this.closeReason = reason;
    this.hasFailed = true;
    clearTimeout(this.blockedTimer);
    this.rejectBlocked();
    const { waiting } = this;
    this.waiting = [];
    for (const line of waiting) line.reject(lineError(fault, reason));
    this.stdin.destroy();
  }

  private rejectBlocked(): void {
    const { blocked, closeReason = 'closed' } = this;
    this.blocked = [];
    for (const line of blocked) line.reject(lineError('broken', closeReason));
  }

  private hasRoom(bytes: number): boolean {
    const queuedBytes = this.blockedBytes + this.waitingBytes;
    if (this.blocked.length + this.waiting.length >= this.limits.maxQueuedMessages) return false;
    return queuedBytes === 0 || queuedBytes + bytes <= this.limits.maxQueuedBytes;
  }

  private flush(): void {
    this.isFlushScheduled = false;
    // A `writableLength` of 0 means that the kernel has accepted all writes.
    while (this.waiting.length > 0 && this.stdin.writable && this.stdin.writableLength === 0)
      this.writeBatch();
    if (this.closeReason !== undefined && this.waiting.length === 0) this.stdin.end();
  }

  private writeBatch(): void {
    const { batch, bytes } = this.nextBatch();
    let text = '';
    for (const line of batch) text += `${line.text}\n`;
    this.stdin.write(text, (error) => this.handleWritten(batch, error));
    if (this.stdin.writableLength === 0) return;
    this.blocked = batch;
    this.blockedBytes = bytes;
    this.blockedTimer = setTimeout(() => this.events.blocked(), this.limits.writeTimeoutMs).unref();
  }

  private nextBatch(): { batch: readonly QueuedLine[]; bytes: number } {
    let count = 0;
    let bytes = 0;
    for (const line of this.waiting) {
      if (count > 0 && bytes + line.bytes > MAX_BATCH_BYTES) break;
      count++;
      bytes += line.bytes;
    }
    this.waitingBytes -= bytes;
    return { batch: this.waiting.splice(0, count), bytes };
  }

  private handleWritten(batch: readonly QueuedLine[], error: Error | null | undefined): void {
    if (error) {
      // `fail` rejects these lines with the reason. If it was called before, they are rejected now.
      if (batch !== this.blocked) this.blocked = [...this.blocked, ...batch];
      if (this.hasFailed) this.rejectBlocked();
      return;
    }
    for (const line of batch) line.resolve();
    if (batch !== this.blocked) return;
    clearTimeout(this.blockedTimer);
    this.blocked = [];
    this.blockedBytes = 0;
    this.flush();
  }
}

const rejected = (fault: TransportFault, why: string): Promise<never> =>
  Promise.reject(lineError(fault, why));

/** With the faults `unreachable` and `broken`, the child has exited, is being stopped, or has closed its stdin. */
const lineError = (fault: TransportFault, why: string): TransportError =>
  new TransportError(fault, why, { hasExited: fault === 'unreachable' || fault === 'broken' });
