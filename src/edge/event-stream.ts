import type { ServerResponse } from 'node:http';
import type { NotificationOutcome, StreamEnd } from '../metrics/metrics.js';
import type { NotificationKind } from '../core/notification-kind.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';
import { KEEP_ALIVE, type EventFrame } from '../mcp/event-frame.js';
import type { ReplayBuffer } from './replay-buffer.js';
import { StreamConnection } from './stream-connection.js';

/** Hears what becomes of notifications and connections. */
export interface StreamObserver {
  countNotification(kind: NotificationKind, outcome: NotificationOutcome): void;
  countStreamEnd(reason: StreamEnd): void;
}

const NO_OBSERVER: StreamObserver = { countNotification: () => {}, countStreamEnd: () => {} };

/** What an event that waits may suffer when too many wait: the first to go are those that say something once. */
type DropOrder = 'dropped first' | 'dropped last' | 'kept';

interface QueuedEvent {
  readonly frame: EventFrame;
  readonly fate: DropOrder;
  readonly options: DeliverOptions;
}

export interface StreamLimits {
  /** Events that may wait for a slow reader. */
  readonly queuedEvents: number;
  /** Milliseconds after which a reader that takes nothing is not coming back for it. */
  readonly stuckMs: number;
}

/** Connections that one stream may have; the oldest makes room. */
const MAX_CONNECTIONS = 4;

/** Bytes of events that may wait for a slow reader. */
const MAX_QUEUED_BYTES = 1_048_576;

/**
 * A stream of events to one client that outlives its connections: it can lose one, and go on over the next. A slow
 * reader costs a bounded queue and nothing else.
 */
export class EventStream {
  private readonly queued = new Map<string, QueuedEvent>();
  private queuedBytes = 0;
  /**
   * Events to be sent again, ahead of what waits. They come from the log, which bounds them: what is new must not make
   * room for what is old.
   */
  private replayed = new Set<EventFrame>();
  /** Every open connection; events go to the newest, because each is sent only once. */
  private readonly connections: StreamConnection[] = [];
  private unkeyed = 0;
  private ended = false;

  constructor(
    /** Empty for a standing stream. */
    readonly name: string,
    private readonly log: ReplayBuffer,
    private readonly limits: StreamLimits,
    private readonly observer: StreamObserver = NO_OBSERVER,
  ) {}

  get isConnected(): boolean {
    return this.connections.length > 0;
  }

  /** True when nothing is left to do: everything was sent, or the reader is gone and the log has the rest. */
  get isDone(): boolean {
    return this.ended && (this.isAllSent || !this.isConnected);
  }

  /** Goes on over this response, whose head has been sent. A connection it still had is kept in reserve. */
  connect(response: ServerResponse, resumeAfter?: number): void {
    if (response.destroyed) return;
    this.connections.push(
      new StreamConnection(response, this.limits.stuckMs, {
        drained: () => this.flush(),
        closed: (connection) => this.disconnected(connection),
      }),
    );
    if (this.connections.length > MAX_CONNECTIONS) this.connections.shift()?.end();
    if (resumeAfter !== undefined) this.rewind(resumeAfter);
    this.flush();
  }

  send(frame: EventFrame, options: DeliverOptions = {}): void {
    if (this.ended) return;
    if (this.isWritable) {
      this.log.append(frame);
      this.deliver(frame, options.kind);
    } else this.enqueue(frame, options);
  }

  /** Leaves out what waits and this is true of. What was sent once was for the client then. */
  withdraw(isStale: (event: DeliverOptions) => boolean): void {
    for (const [key, { frame, options }] of this.queued) {
      if (!isStale(options)) continue;
      this.log.withdraw(frame);
      this.remove(key, 'dropped');
    }
  }

  keepAlive(): void {
    if (this.ended) return;
    for (const connection of this.connections) if (!connection.isBlocked) connection.write(KEEP_ALIVE);
  }

  /** No more events: the connection ends when everything that waits has been sent. */
  end(): void {
    this.ended = true;
    this.flush();
  }

  private get newest(): StreamConnection | undefined {
    return this.connections.at(-1);
  }

  private get isAllSent(): boolean {
    return this.replayed.size === 0 && this.queued.size === 0;
  }

  private get isWritable(): boolean {
    return this.newest?.isBlocked === false;
  }

  private enqueue(frame: EventFrame, options: DeliverOptions): void {
    const { coalesce, droppable = false } = options;
    const key = coalesce ?? `#${this.unkeyed++}`;
    const fate = coalesce !== undefined ? 'dropped last' : droppable ? 'dropped first' : 'kept';
    const replaced = this.queued.get(key);
    if (replaced) this.log.withdraw(replaced.frame);
    this.log.append(frame);
    this.remove(key, 'coalesced');
    this.add(key, { frame, fate, options });
    while (this.isFull && (this.drop('dropped first') || this.drop('dropped last')));
  }

  private get isFull(): boolean {
    return this.queued.size > this.limits.queuedEvents || this.queuedBytes > MAX_QUEUED_BYTES;
  }

  /** Leaves out the oldest event of this fate. */
  private drop(fate: DropOrder): boolean {
    for (const [key, waiting] of this.queued) {
      if (waiting.fate !== fate) continue;
      this.remove(key, 'dropped');
      return true;
    }
    return false;
  }

  private add(key: string, waiting: QueuedEvent): void {
    this.queued.set(key, waiting);
    this.queuedBytes += waiting.frame.size;
  }

  private remove(key: string, outcome?: NotificationOutcome): void {
    const waiting = this.queued.get(key);
    if (!waiting) return;
    this.queuedBytes -= waiting.frame.size;
    // The only one is the last one, too, and what takes its place may do so without a new table.
    if (outcome !== 'coalesced' || this.queued.size > 1) this.queued.delete(key);
    const { kind } = waiting.options;
    if (outcome && kind) this.observer.countNotification(kind, outcome);
  }

  /** What was sent after this sequence is sent again, ahead of what waits. */
  private rewind(sequence: number): void {
    // The log may have forgotten some that an earlier replay did not come to.
    const left = [...this.replayed].filter((frame) => frame.sequence > sequence);
    const next = left[0] ?? this.queued.values().next().value?.frame;
    const sent = this.log
      .after(this.name, sequence)
      .filter((frame) => !next || frame.sequence < next.sequence);
    this.replayed = new Set([...sent, ...left]);
  }

  private flush(): void {
    for (const frame of this.replayed) {
      if (!this.isWritable) return;
      this.replayed.delete(frame);
      this.deliver(frame, undefined);
    }
    for (const [key, { frame, options }] of this.queued) {
      if (!this.isWritable) return;
      this.remove(key);
      this.deliver(frame, options.kind);
    }
    if (this.ended && this.isAllSent) for (const connection of this.connections) connection.end();
  }

  private deliver(frame: EventFrame, kind: NotificationKind | undefined): void {
    this.newest?.write(frame.bytes);
    if (kind) this.observer.countNotification(kind, 'delivered');
  }

  private disconnected(connection: StreamConnection): void {
    this.observer.countStreamEnd(this.endOf(connection));
    const index = this.connections.indexOf(connection);
    if (index !== -1) this.connections.splice(index, 1);
    this.flush();
  }

  private endOf(connection: StreamConnection): StreamEnd {
    if (connection.isStuck) return 'stuck';
    if (!this.connections.includes(connection)) return 'replaced';
    return connection.isEnded ? 'finished' : 'left';
  }
}
