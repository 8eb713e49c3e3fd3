import type { ServerResponse } from 'node:http';
import { KEEP_ALIVE, type EventFrame } from './event-frame.js';
import type { EventLog } from './event-log.js';

export interface SendOptions {
  /** Of several waiting events with one key, only the latest matters. */
  readonly coalesce?: string;
  /** May be left out when a slow reader falls too far behind. */
  readonly droppable?: boolean;
}

interface Waiting {
  readonly frame: EventFrame;
  readonly droppable: boolean;
}

export interface StreamLimits {
  /** Events that may wait for a slow reader. */
  readonly waiting: number;
}

/**
 * A stream of events to one client that outlives its connections: it can lose one, and go on over the next. A slow
 * reader costs a bounded queue and nothing else.
 */
export class EventStream {
  private readonly waiting = new Map<string, Waiting>();
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

  /** True when nothing will ever be sent again and everything has been. */
  get isDone(): boolean {
    return this.ended && this.waiting.size === 0;
  }

  /** Goes on over this response, whose head has been sent. A connection it still had is ended. */
  connect(response: ServerResponse, resumeAfter?: number): void {
    this.response?.end();
    this.response = response;
    this.blockedSince = undefined;
    response.once('close', () => this.disconnected(response));
    response.on('drain', () => this.drained(response));
    if (resumeAfter !== undefined) {
      this.waiting.clear();
      for (const frame of this.log.after(this.name, resumeAfter)) this.enqueue(frame, {});
    }
    this.flush();
  }

  send(frame: EventFrame, options: SendOptions = {}): void {
    this.log.append(this.name, frame);
    if (this.response && this.blockedSince === undefined) this.write(frame.bytes);
    else this.enqueue(frame, options);
  }

  keepAlive(): void {
    if (this.response && this.blockedSince === undefined) this.write(KEEP_ALIVE);
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

  private enqueue(frame: EventFrame, { coalesce, droppable = false }: SendOptions): void {
    const key = coalesce ?? `#${this.unkeyed++}`;
    this.waiting.delete(key);
    if (this.waiting.size >= this.limits.waiting) this.dropOldest();
    this.waiting.set(key, { frame, droppable: droppable || coalesce !== undefined });
  }

  private dropOldest(): void {
    for (const [key, { droppable }] of this.waiting) {
      if (!droppable) continue;
      this.waiting.delete(key);
      this.dropped++;
      return;
    }
  }

  private flush(): void {
    for (const [key, { frame }] of this.waiting) {
      if (!this.response || this.blockedSince !== undefined) return;
      this.waiting.delete(key);
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
