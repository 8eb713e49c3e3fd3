import type { ServerResponse } from 'node:http';
import type { NotificationOutcome, StreamEnd } from '../metrics/metric-labels.js';
import type { NotificationKind } from '../core/notification-kind.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';
import { KEEP_ALIVE, type EventFrame } from '../mcp/event-frame.js';
import { EventQueue } from './event-queue.js';
import type { ReplayBuffer } from './replay-buffer.js';
import { StreamConnection } from './stream-connection.js';

/** Counts the outcomes of notifications and the ends of connections, for the metrics. */
export interface StreamObserver {
  countNotification(kind: NotificationKind, outcome: NotificationOutcome): void;
  countStreamEnd(reason: StreamEnd): void;
}

/** Counts the bytes that a client has not read yet. */
export interface UnreadCounter {
  add(bytes: number): void;
}

const NO_OBSERVER: StreamObserver = { countNotification: () => {}, countStreamEnd: () => {} };

interface StreamLimits {
  /** Maximum number of queued events. It does not apply to responses. */
  readonly queuedEvents: number;
  /** A connection whose client reads nothing for this long is destroyed. */
  readonly stuckMs: number;
}

/** Maximum number of connections per stream. A further connection ends the oldest. */
const MAX_CONNECTIONS = 4;

/**
 * A stream of server-sent events that outlives its connections: after a reconnect, it continues on the new connection.
 * If the client reads slowly, events wait in a bounded queue.
 */
export class EventStream {
  private readonly queue: EventQueue;
  /** The number of bytes that was last reported to `unread`. */
  private reportedBytes = 0;
  /** Events that are replayed before the queue is sent. The size of the replay buffer limits how many there are. */
  private toReplay = new Set<EventFrame>();
  /**
   * Sequence numbers of the latest primer and of the primer that the client resumed from. The events in `toReplay` are
   * sent after these primers, although the events have lower sequence numbers than the primers.
   */
  private primers: readonly number[] = [];
  /** The open connections, newest last. Each event is sent once, on the newest connection. */
  private readonly connections: StreamConnection[] = [];
  private hasEnded = false;
  /** Whether the stream has ever had a connection. */
  wasConnected = false;

  constructor(
    /** Empty for the standalone stream. */
    readonly name: string,
    private readonly replayBuffer: ReplayBuffer,
    private readonly limits: StreamLimits,
    private readonly observer: StreamObserver = NO_OBSERVER,
    private readonly unread?: UnreadCounter,
  ) {
    this.queue = new EventQueue(limits.queuedEvents, ({ frame: { kind } }, outcome) => {
      if (kind) observer.countNotification(kind, outcome);
    });
  }

  /** The keys of the queued events. */
  get queuedKeys(): ReadonlySet<string> {
    return this.queue.keys;
  }

  get isConnected(): boolean {
    return this.connections.length > 0;
  }

  /**
   * Whether the stream object is not needed any more: the stream has ended, and everything was sent or the client is
   * not connected. A client that connects later gets the unsent events from the replay buffer.
   */
  get isDone(): boolean {
    return this.hasEnded && (this.isAllSent || !this.isConnected);
  }

  /**
   * From now on, sends events on this response. Its headers must have been sent. Older connections stay open, but get
   * no more events. The primer, an event without data, is sent first: a client that resumes from its id gets all later
   * events. Then the events after the sequence number `resumeAfter` are sent again.
   */
  connect(response: ServerResponse, resumeAfter?: number, primer?: EventFrame): void {
    if (response.destroyed) return;
    this.wasConnected = true;
    const connection = new StreamConnection(response, this.limits.stuckMs, {
      drained: () => this.flush(),
      closed: (closed) => this.onClose(closed),
    });
    this.connections.push(connection);
    if (this.connections.length > MAX_CONNECTIONS) this.connections.shift()?.end();
    if (resumeAfter !== undefined) this.scheduleReplay(resumeAfter);
    if (primer) {
      this.replayBuffer.insertPrimer(primer, this.firstUnsent, resumeAfter);
      this.primers = [...this.primers.filter((sequence) => sequence === resumeAfter), primer.sequence];
      connection.write(primer.bytes);
    }
    this.flush();
  }

  /**
   * Sends an event, or queues it while the client is not connected or reads slowly. Returns false if the stream has
   * ended, or if the event is `refusable` and the queue has no room for it.
   */
  send(frame: EventFrame, options: DeliverOptions = {}): boolean {
    if (this.hasEnded || (options.refusable && !this.isWritable && this.queue.refuses(frame))) return false;
    if (this.isWritable) {
      this.replayBuffer.append(frame);
      this.deliver(frame, 'written', options.onSent);
    } else this.enqueue(frame, options);
    this.countUnread();
    return true;
  }

  /** Removes stale events from the queue and from the replay buffer. Events that were sent stay in the replay buffer. */
  withdraw(isStale: (event: DeliverOptions) => boolean): void {
    for (const { frame } of this.queue.withdraw(isStale)) this.replayBuffer.withdraw(frame);
    this.countUnread();
  }

  /** Drops the queued events of a stream that is done. */
  discardQueue(): void {
    this.queue.clear();
    this.countUnread();
  }

  /** Writes a comment to every connection. */
  keepAlive(): void {
    if (this.hasEnded) return;
    for (const connection of this.connections) if (!connection.isBlocked) connection.write(KEEP_ALIVE);
  }

  /** Accepts no more events. The connections end after the queue has been sent. */
  end(): void {
    this.hasEnded = true;
    this.flush();
  }

  private get newest(): StreamConnection | undefined {
    return this.connections.at(-1);
  }

  private get isAllSent(): boolean {
    return this.toReplay.size === 0 && this.queue.size === 0;
  }

  private get firstUnsent(): EventFrame | undefined {
    const { value } = this.toReplay.values().next();
    return value ?? this.queue.first?.frame;
  }

  private get isWritable(): boolean {
    return this.newest?.isBlocked === false;
  }

  private enqueue(frame: EventFrame, options: DeliverOptions): void {
    const replaced = this.queue.add(frame, options);
    if (replaced) this.replayBuffer.withdraw(replaced.frame);
    this.replayBuffer.append(frame);
    // Without a connection, the event may never be sent. What waits for `onSent` must not wait forever.
    if (!this.isConnected) options.onSent?.();
  }

  /** Reports the change in the bytes of queued events, including the unwritten part of the event that is being sent. */
  private countUnread(): void {
    if (!this.unread) return;
    const bytes = this.queue.bytes + (this.newest?.unwrittenBytes ?? 0);
    this.unread.add(bytes - this.reportedBytes);
    this.reportedBytes = bytes;
  }

  /** Schedules the replay of the sent events with higher sequence numbers. They are sent before the queue. */
  private scheduleReplay(sequence: number): void {
    const missedFrames = new Set(this.replayBuffer.after(this.name, sequence));
    for (const { frame } of this.queue) missedFrames.delete(frame);
    // Events of an unfinished earlier replay are still sent if the replay buffer has dropped them since.
    const isPrimer = this.primers.includes(sequence);
    const unfinished = [...this.toReplay].filter(
      (frame) => (isPrimer || frame.sequence > sequence) && !missedFrames.has(frame),
    );
    this.toReplay = new Set([...unfinished, ...missedFrames]);
  }

  private flush(): void {
    this.writeQueue();
    this.countUnread();
  }

  private writeQueue(): void {
    for (const frame of this.toReplay) {
      if (!this.isWritable) return;
      this.toReplay.delete(frame);
      this.deliver(frame, 'redelivered');
    }
    for (const { frame, options } of this.queue.takeWhile(() => this.isWritable))
      this.deliver(frame, 'written', options.onSent);
    if (this.hasEnded && this.isAllSent) for (const connection of this.connections) connection.end();
  }

  private deliver(frame: EventFrame, outcome: 'written' | 'redelivered', onSent?: () => void): void {
    this.newest?.write(frame.bytes, frame.rest);
    if (frame.kind) this.observer.countNotification(frame.kind, outcome);
    onSent?.();
  }

  private onClose(connection: StreamConnection): void {
    this.observer.countStreamEnd(this.endReasonOf(connection));
    const index = this.connections.indexOf(connection);
    if (index !== -1) this.connections.splice(index, 1);
    // Without a connection, the queued events may never be sent. What waits for `onSent` must not wait forever.
    if (!this.isConnected) for (const { options } of this.queue) options.onSent?.();
    this.flush();
  }

  private endReasonOf(connection: StreamConnection): StreamEnd {
    if (connection.isStuck) return 'stuck';
    // `connect` has removed the connection, because the stream had too many.
    if (!this.connections.includes(connection)) return 'replaced';
    return connection.isEnded ? 'finished' : 'left';
  }
}
