import type { Writable } from 'node:stream';
import { onOneLine } from '../../lib/json-text/json-text.js';
import { TransportError, type TransportFault } from '../link/transport.js';
import type { StdioLimits } from './stdio-server.js';

/** About what the kernel buffers for a child; more in one write would only be encoded before its time. */
const BATCH_BYTES = 256 * 1024;

interface Line {
  readonly text: string;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: TransportError) => void;
}

/**
 * The lines on their way into a child's stdin. Lines that are ready at the same time go out in one write; a child
 * that does not read makes them wait here, up to the limits and for `writeTimeoutMs`.
 */
export class StdinQueue {
  private waiting: Line[] = [];
  private waitingBytes = 0;
  /** The batch that the kernel has not yet taken whole. */
  private stuck: readonly Line[] = [];
  private stuckBytes = 0;
  private stuckTimer: NodeJS.Timeout | undefined;
  private flushDue = false;
  private closedBecause: string | undefined;

  constructor(
    private readonly stdin: Writable,
    private readonly limits: StdioLimits,
    private readonly on: { stuck(): void; broken(): void },
  ) {
    stdin.on('error', () => {
      this.fail('closed its stdin', 'unreachable');
      on.broken();
    });
  }

  /** Resolves when the kernel has the line. */
  push(message: string): Promise<void> {
    if (this.closedBecause !== undefined) return refusal('unreachable', this.closedBecause);
    const text = onOneLine(message);
    const bytes = Buffer.byteLength(text) + 1;
    if (!this.hasRoom(bytes)) this.flush();
    if (!this.hasRoom(bytes)) return refusal('busy', 'does not read its stdin fast enough');
    return new Promise((resolve, reject) => {
      this.waiting.push({ text, bytes, resolve, reject });
      this.waitingBytes += bytes;
      if (this.flushDue) return;
      this.flushDue = true;
      // After all that runs now, promises included: whatever they send as well joins this write.
      process.nextTick(() => this.flush());
    });
  }

  /** Takes no more, and ends the stream after what is already here. */
  end(because: string): void {
    this.closedBecause ??= because;
    this.flush();
  }

  /** Gives up what is here. The stuck batch may have been read in part, what waits behind it was not. */
  fail(because: string, fault: TransportFault): void {
    this.closedBecause = because;
    clearTimeout(this.stuckTimer);
    const { stuck, waiting } = this;
    this.stuck = [];
    this.waiting = [];
    for (const line of stuck) line.reject(new TransportError('broken', because));
    for (const line of waiting) line.reject(new TransportError(fault, because));
    this.stdin.destroy();
  }

  private hasRoom(bytes: number): boolean {
    const queuedBytes = this.stuckBytes + this.waitingBytes;
    if (this.stuck.length + this.waiting.length >= this.limits.maxQueuedMessages) return false;
    return queuedBytes === 0 || queuedBytes + bytes <= this.limits.maxQueuedBytes;
  }

  private flush(): void {
    this.flushDue = false;
    // A length of 0 after a write says that the kernel took it at once.
    while (this.waiting.length > 0 && this.stdin.writable && this.stdin.writableLength === 0)
      this.writeBatch();
    if (this.closedBecause !== undefined && this.waiting.length === 0) this.stdin.end();
  }

  private writeBatch(): void {
    const { batch, bytes } = this.nextBatch();
    let text = '';
    for (const line of batch) text += `${line.text}\n`;
    this.stdin.write(text, (error) => this.written(batch, error));
    if (this.stdin.writableLength === 0) return;
    this.stuck = batch;
    this.stuckBytes = bytes;
    this.stuckTimer = setTimeout(() => this.on.stuck(), this.limits.writeTimeoutMs).unref();
  }

  private nextBatch(): { batch: readonly Line[]; bytes: number } {
    let count = 0;
    let bytes = 0;
    for (const line of this.waiting) {
      if (count > 0 && bytes + line.bytes > BATCH_BYTES) break;
      count++;
      bytes += line.bytes;
    }
    this.waitingBytes -= bytes;
    return { batch: this.waiting.splice(0, count), bytes };
  }

  private written(batch: readonly Line[], error: Error | null | undefined): void {
    if (error) {
      const broken = new TransportError('broken', 'closed its stdin', {}, { cause: error });
      for (const line of batch) line.reject(broken);
      return;
    }
    for (const line of batch) line.resolve();
    if (batch !== this.stuck) return;
    clearTimeout(this.stuckTimer);
    this.stuck = [];
    this.stuckBytes = 0;
    this.flush();
  }
}

const refusal = (fault: TransportFault, why: string): Promise<never> =>
  Promise.reject(new TransportError(fault, why));
