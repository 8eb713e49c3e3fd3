import type { ServerResponse } from 'node:http';
import type { NotificationOutcome, StreamEnd } from '../metrics/metrics.js';
import type { NotificationKind } from '../core/notification-kind.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';
import { KEEP_ALIVE, type EventFrame } from '../mcp/event-frame.js';
import type { ReplayBuffer } from './replay-buffer.js';
import { StreamConnection } from './stream-connection.js';

/** For metrics: the outcome of notifications and the ends of connections. */
export interface StreamObserver {
  countNotification(kind: NotificationKind, outcome: NotificationOutcome): void;
  countStreamEnd(reason: StreamEnd): void;
}

const NO_OBSERVER: StreamObserver = { countNotification: () => {}, countStreamEnd: () => {} };

/** Which queued events are dropped first when the queue is full. */
type DropOrder = 'dropped first' | 'dropped last' | 'kept';

interface QueuedEvent {
  readonly frame: EventFrame;
  readonly dropOrder: DropOrder;
  readonly options: DeliverOptions;
}

interface StreamLimits {
  /** Maximum queued events. Events that must not be dropped may exceed it. */
  readonly queuedEvents: number;
  /** A connection whose client reads nothing for this long is destroyed. */
  readonly stuckMs: number;
}

/** Per stream; a further connection ends the oldest. */
const MAX_CONNECTIONS = 4;

const MAX_QUEUED_BYTES = 1_048_576;

/**
 * A stream of server-sent events that outlives its connections: after a reconnect it continues on the new connection.
 * For a slow reader it keeps a bounded queue.
 */
export class EventStream {
  private readonly queued = new Map<string, QueuedEvent>();
  private queuedBytes = 0;
  /** Events to replay before the queue is sent. The replay buffer bounds them, so they do not count as queued. */
  private replayed = new Set<EventFrame>();
  /** Open connections. Each event is sent once, on the newest. */
  private readonly connections: StreamConnection[] = [];
  private unkeyed = 0;
  private ended = false;

  constructor(
    /** Empty for the standalone stream. */
    readonly name: string,
    private readonly replayBuffer: ReplayBuffer,
    private readonly limits: StreamLimits,
    private readonly observer: StreamObserver = NO_OBSERVER,
  ) {}

  get isConnected(): boolean {
    return this.connections.length > 0;
  }

  /** True after `end`, when everything was sent, or when the client is disconnected and may request a replay. */
  get isDone(): boolean {
    return this.ended && (this.isAllSent || !this.isConnected);
  }

  /** Sends further events on this response, whose head was sent. Older connections stay open without events. */
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
      this.replayBuffer.append(frame);
      this.deliver(frame, options.kind);
    } else this.enqueue(frame, options);
  }

  /** Removes matching events from the queue and the replay buffer. Events that were sent stay. */
  withdraw(isStale: (event: DeliverOptions) => boolean): void {
    for (const [key, { frame, options }] of this.queued) {
      if (!isStale(options)) continue;
      this.replayBuffer.withdraw(frame);
      this.remove(key, 'dropped');
    }
  }

  keepAlive(): void {
    if (this.ended) return;
    for (const connection of this.connections) if (!connection.isBlocked) connection.write(KEEP_ALIVE);
  }

  /** Accepts no more events. Connections end when the queue is sent. */
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
    const dropOrder = coalesce !== undefined ? 'dropped last' : droppable ? 'dropped first' : 'kept';
    const replaced = this.queued.get(key);
    if (replaced) this.replayBuffer.withdraw(replaced.frame);
    this.replayBuffer.append(frame);
    this.remove(key, 'coalesced');
    this.add(key, { frame, dropOrder, options });
    while (this.isFull && (this.drop('dropped first') || this.drop('dropped last')));
  }

  private get isFull(): boolean {
    return this.queued.size > this.limits.queuedEvents || this.queuedBytes > MAX_QUEUED_BYTES;
  }

  private drop(dropOrder: DropOrder): boolean {
    for (const [key, event] of this.queued) {
      if (event.dropOrder !== dropOrder) continue;
      this.remove(key, 'dropped');
      return true;
    }
    return false;
  }

  private add(key: string, event: QueuedEvent): void {
    this.queued.set(key, event);
    this.queuedBytes += event.frame.size;
  }

  private remove(key: string, outcome?: NotificationOutcome): void {
    const event = this.queued.get(key);
    if (!event) return;
    this.queuedBytes -= event.frame.size;
    // A single entry that is replaced keeps its place, which saves the map a rehash.
    if (outcome !== 'coalesced' || this.queued.size > 1) this.queued.delete(key);
    const { kind } = event.options;
    if (outcome && kind) this.observer.countNotification(kind, outcome);
  }

  /** Schedules the events after this sequence number for replay. */
  private rewind(sequence: number): void {
    // The buffer may have dropped events that an earlier replay had not sent yet.
    const left = [...this.replayed].filter((frame) => frame.sequence > sequence);
    const next = left[0] ?? this.queued.values().next().value?.frame;
    const sent = this.replayBuffer
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
