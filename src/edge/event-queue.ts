import type { EventFrame } from '../mcp/event-frame.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';

/** When the queue is full, events with `first` are dropped before events with `last`. */
type DropOrder = 'first' | 'last' | 'never';

export interface QueuedEvent<Frame extends EventFrame = EventFrame> {
  readonly frame: Frame;
  readonly dropOrder: DropOrder;
  readonly options: DeliverOptions;
}

/** Maximum bytes of all queued events. If there are more, notifications are dropped. */
const MAX_QUEUED_BYTES = 1_048_576;
/**
 * Maximum bytes of queued events that must not be dropped. A single event may be larger. If the limit is reached,
 * requests of servers to the client are refused.
 */
const MAX_UNDROPPABLE_BYTES = 16_777_216;

/** The events that wait for one slow client, oldest first. When the queue is full, notifications are dropped. */
export class EventQueue<Frame extends EventFrame = EventFrame> {
  private readonly events = new Map<string, QueuedEvent<Frame>>();
  private queuedBytes = 0;
  /** Number of queued events that must not be dropped. */
  private undroppableCount = 0;
  private undroppableBytes = 0;
  /** The number in the last generated key. Keys are generated for events without a `coalesce` key. */
  private lastKeyNumber = 0;

  /** `onRemove` is called for every event that is replaced, dropped or withdrawn. */
  constructor(
    /** Maximum number of queued events. It does not apply to responses. */
    private readonly maxEvents: number,
    private readonly onRemove: (event: QueuedEvent<Frame>, outcome: 'coalesced' | 'dropped') => void,
  ) {}

  get size(): number {
    return this.events.size;
  }

  get bytes(): number {
    return this.queuedBytes;
  }

  get first(): QueuedEvent<Frame> | undefined {
    return this.events.values().next().value;
  }

  get keys(): ReadonlySet<string> {
    return new Set(this.events.keys());
  }

  [Symbol.iterator](): Iterator<QueuedEvent<Frame>> {
    return this.events.values();
  }

  /**
   * Adds an event at the end, and drops events while the queue is full. If the queue has an event with the same
   * `coalesce` key, replaces and returns that event.
   */
  add(frame: Frame, options: DeliverOptions): QueuedEvent<Frame> | undefined {
    const { coalesce, droppable = false } = options;
    const key = coalesce ?? `#${++this.lastKeyNumber}`;
    const dropOrderWithoutKey = droppable ? 'first' : 'never';
    const dropOrder = coalesce === undefined ? dropOrderWithoutKey : 'last';
    const replaced = this.events.get(key);
    if (replaced) {
      // Deleting the entry makes `set` add it at the end. A single entry is at the end already, and deleting it is
      // slow.
      if (this.events.size > 1) this.events.delete(key);
      this.countRemoved(replaced, 'coalesced');
    }
    const event = { frame, dropOrder, options } as const;
    this.events.set(key, event);
    this.count(event, 1);
    let hasDropped = true;
    while (this.isFull && hasDropped) hasDropped = this.dropOldest();
    return replaced;
  }

  /** Whether there is no room for a further event that must not be dropped. */
  refuses({ size }: EventFrame): boolean {
    return (
      this.undroppableCount >= this.maxEvents ||
      (this.undroppableCount > 0 && this.undroppableBytes + size > MAX_UNDROPPABLE_BYTES)
    );
  }

  /** Removes and yields the oldest events, as long as `canSend` returns true. */
  *takeWhile(canSend: () => boolean): Generator<QueuedEvent<Frame>, void> {
    for (const [key, event] of this.events) {
      if (!canSend()) return;
      this.events.delete(key);
      this.count(event, -1);
      yield event;
    }
  }

  /** Removes and yields the stale events. */
  *withdraw(isStale: (options: DeliverOptions) => boolean): Generator<QueuedEvent<Frame>, void> {
    for (const [key, event] of this.events) {
      if (!isStale(event.options)) continue;
      this.events.delete(key);
      this.countRemoved(event, 'dropped');
      yield event;
    }
  }

  clear(): void {
    this.events.clear();
    this.queuedBytes = 0;
    this.undroppableCount = 0;
    this.undroppableBytes = 0;
  }

  private get isFull(): boolean {
    return this.events.size > this.maxEvents || this.queuedBytes > MAX_QUEUED_BYTES;
  }

  /** Returns false if there is no event that may be dropped. */
  private dropOldest(): boolean {
    return this.dropOldestOf('first') || this.dropOldestOf('last');
  }

  private dropOldestOf(dropOrder: DropOrder): boolean {
    for (const [key, event] of this.events) {
      if (event.dropOrder !== dropOrder) continue;
      this.events.delete(key);
      this.countRemoved(event, 'dropped');
      return true;
    }
    return false;
  }

  private countRemoved(event: QueuedEvent<Frame>, outcome: 'coalesced' | 'dropped'): void {
    this.count(event, -1);
    this.onRemove(event, outcome);
  }

  private count({ frame, dropOrder }: QueuedEvent<Frame>, sign: 1 | -1): void {
    this.queuedBytes += sign * frame.size;
    if (dropOrder !== 'never') return;
    this.undroppableCount += sign;
    this.undroppableBytes += sign * frame.size;
  }
}
