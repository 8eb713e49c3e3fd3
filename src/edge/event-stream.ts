import type { ServerResponse } from 'node:http';
import { KEEP_ALIVE, type EventFrame } from './event-frame.js';
import type { EventLog } from './event-log.js';

export interface SendOptions {
  /** Of several waiting events with one key, only the latest matters. */
  readonly coalesce?: string;
  /** May be left out when a slow reader falls too far behind. */
  readonly droppable?: boolean;
}

/** What an event that waits may suffer when too many wait: the first to go are those that say something once. */
type Fate = 'dropped first' | 'dropped last' | 'kept';

interface Waiting {
  readonly frame: EventFrame;
  readonly fate: Fate;
}

export interface StreamLimits {
  /** Events that may wait for a slow reader. */
  readonly waiting: number;
}

/** Bytes of events that may wait for a slow reader. */
const WAITING_BYTES = 1_048_576;

/**
 * A stream of events to one client that outlives its connections: it can lose one, and go on over the next. A slow
 * reader costs a bounded queue and nothing else.
 */
export class EventStream {
  private readonly waiting = new Map<string, Waiting>();
  private waitingBytes = 0;
  private response: ServerResponse | undefined;
  private blockedSince: number | undefined;
  private unkeyed = 0;
  private ended = false;
  /** Events that were left out because the reader was too slow. */
  dropped = 0;

  constructor(
    /** Empty for a standing stream. */
    readonly name: string,
    private readonly log: EventLog,
    private readonly limits: StreamLimits,
  ) {}

  get isConnected(): boolean {
    return this.response !== undefined;
  }

  /** True when nothing is left to do: everything was sent, or the reader is gone and the log has the rest. */
  get isDone(): boolean {
    return this.ended && (this.waiting.size === 0 || !this.isConnected);
  }

  /** Goes on over this response, whose head has been sent. A connection it still had is ended. */
  connect(response: ServerResponse, resumeAfter?: number): void {
    if (response.destroyed) return;
    this.response?.end();
    this.response = response;
    this.blockedSince = undefined;
    response.once('close', () => this.disconnected(response));
    response.on('drain', () => this.drained(response));
    if (resumeAfter !== undefined) this.rewind(resumeAfter);
    this.flush();
  }

  send(frame: EventFrame, options: SendOptions = {}): void {
    if (this.ended) return;
    this.log.append(this.name, frame);
    if (this.isWritable) this.write(frame.bytes);
    else this.enqueue(frame, options);
  }

  keepAlive(): void {
    if (this.isWritable && !this.ended) this.write(KEEP_ALIVE);
  }

  /** A reader that has not taken anything for so long is not coming back for it. */
  disconnectIfStuck(longestMs: number): boolean {
    if (this.blockedSince === undefined || performance.now() - this.blockedSince < longestMs) return false;
    this.response?.destroy();
    return true;
  }

  /** No more events: the connection ends when everything that waits has been sent. */
  end(): void {
    this.ended = true;
    this.flush();
  }

  private get isWritable(): boolean {
    return this.response !== undefined && this.blockedSince === undefined;
  }

  private enqueue(frame: EventFrame, { coalesce, droppable = false }: SendOptions): void {
    const key = coalesce ?? `#${this.unkeyed++}`;
    const fate = coalesce !== undefined ? 'dropped last' : droppable ? 'dropped first' : 'kept';
    this.remove(key);
    this.add(key, { frame, fate });
    while (this.isFull && (this.drop('dropped first') || this.drop('dropped last')));
  }

  private get isFull(): boolean {
    return this.waiting.size > this.limits.waiting || this.waitingBytes > WAITING_BYTES;
  }

  /** Leaves out the oldest event of this fate. */
  private drop(fate: Fate): boolean {
    for (const [key, waiting] of this.waiting) {
      if (waiting.fate !== fate) continue;
      this.remove(key);
      this.dropped++;
      return true;
    }
    return false;
  }

  private add(key: string, waiting: Waiting): void {
    this.waiting.set(key, waiting);
    this.waitingBytes += waiting.frame.bytes.length;
  }

  private remove(key: string): void {
    this.waitingBytes -= this.waiting.get(key)?.frame.bytes.length ?? 0;
    this.waiting.delete(key);
  }

  /** What was sent after this sequence is sent again, ahead of what waits. */
  private rewind(sequence: number): void {
    const waiting = [...this.waiting];
    const firstWaiting = waiting[0]?.[1].frame.sequence ?? Infinity;
    for (const [key] of waiting) this.remove(key);
    for (const frame of this.log.after(this.name, sequence))
      if (frame.sequence < firstWaiting) this.add(`#${this.unkeyed++}`, { frame, fate: 'kept' });
    for (const [key, event] of waiting) this.add(key, event);
  }

  private flush(): void {
    for (const [key, { frame }] of this.waiting) {
      if (!this.isWritable) return;
      this.remove(key);
      this.write(frame.bytes);
    }
    if (this.ended && this.waiting.size === 0) this.response?.end();
  }

  private write(bytes: Buffer): void {
    if (this.response?.write(bytes) === false) this.blockedSince = performance.now();
  }

  private drained(response: ServerResponse): void {
    if (response !== this.response) return;
    this.blockedSince = undefined;
    this.flush();
  }

  private disconnected(response: ServerResponse): void {
    if (response !== this.response) return;
    this.response = undefined;
    this.blockedSince = undefined;
  }
}
