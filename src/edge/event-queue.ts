import type { EventFrame } from '../mcp/event-frame.js';
import type { DeliverOptions } from '../mcp/mcp-context.js';

/** When the queue is full, all `first` events are dropped before any `last` event. */
type DropOrder = 'first' | 'last' | 'never';

export interface QueuedEvent<Frame extends EventFrame = EventFrame> {
  readonly frame: Frame;
  readonly dropOrder: DropOrder;
  readonly options: DeliverOptions;
}

/** Maximum bytes of all queued events. Beyond it, queued notifications are dropped. */
const MAX_QUEUED_BYTES = 1_048_576;
/**
 * Maximum bytes of queued events that must not be dropped; a single event may be larger. Beyond it, requests of servers to
 * the client are refused.
 */
const MAX_UNDROPPABLE_BYTES = 16_777_216;

/** The events that wait for one slow client, oldest first. When the queue is full, notifications are dropped. */
export class EventQueue<Frame extends EventFrame = EventFrame> {
  private readonly events = new Map<string, QueuedEvent<Frame>>();
  private queuedBytes = 0;
  /** Number and bytes of the queued events that must not be dropped. */
  private undroppable = 0;
  private undroppableBytes = 0;
  /** Number in the key of the last event that has no key of its own. */
  private lastKeyNumber = 0;

  /** `onRemove` is called for every event that is replaced, dropped or withdrawn. */
  constructor(
    /** Maximum queued events. Responses are queued beyond it. */
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

  /** Queues an event, and drops others while the queue is full. Returns the event with the same key, which is replaced. */
  add(frame: Frame, options: DeliverOptions): QueuedEvent<Frame> | undefined {
    const { coalesce, droppable = false } = options;
    const key = coalesce ?? `#${++this.lastKeyNumber}`;
    const dropOrder = coalesce !== undefined ? 'last' : droppable ? 'first' : 'never';
    const replaced = this.events.get(key);
    if (replaced) {
      // Moves the entry to the end. A single entry is there already, and deleting it would cost a rehash of the map.
      if (this.events.size > 1) this.events.delete(key);
      this.countRemoved(replaced, 'coalesced');
    }
    const event = { frame, dropOrder, options } as const;
    this.events.set(key, event);
    this.count(event, 1);
    while (this.isFull && this.dropOldest());
    return replaced;
  }

  /** Whether there is no room for a further event that must not be dropped. */
  refuses({ size }: EventFrame): boolean {
    return (
      this.undroppable >= this.maxEvents ||
      (this.undroppable > 0 && this.undroppableBytes + size > MAX_UNDROPPABLE_BYTES)
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
    this.undroppable = 0;
    this.undroppableBytes = 0;
  }

  private get isFull(): boolean {
    return this.events.size > this.maxEvents || this.queuedBytes > MAX_QUEUED_BYTES;
  }

  /** Returns false when no queued event may be dropped. */
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
    this.undroppable += sign;
    this.undroppableBytes += sign * frame.size;
  }
}
