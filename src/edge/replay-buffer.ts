import { isPrimer, type EventFrame } from '../mcp/event-frame.js';

/**
 * The last events of a session, which are sent again after a broken connection. The frame of a broadcast is one object
 * in the buffers of all sessions.
 */
export class ReplayBuffer {
  private readonly events: EventFrame[] = [];
  private bytes = 0;
  /**
   * Sequence numbers on the standalone stream: the last event that was dropped, and the last primer that was dropped
   * after it. A client that resumes from one of them misses no event, because the buffer has all later events.
   */
  private lastDropped: { readonly event?: number; readonly primer?: number } = {};

  constructor(
    private readonly maxEvents: number,
    private readonly maxBytes: number,
  ) {}

  append(frame: EventFrame): void {
    this.events.push(frame);
    this.bytes += frame.size;
    while (this.events.length > this.maxEvents || this.bytes > this.maxBytes) this.dropOldest();
  }

  /** Removes a frame. Most frames that are removed are near the end, so the search starts there. */
  withdraw(frame: EventFrame): void {
    const index = this.events.lastIndexOf(frame);
    if (index === -1) return;
    if (index === this.events.length - 1) this.events.pop();
    else this.events.splice(index, 1);
    this.bytes -= frame.size;
  }

  /**
   * Adds a primer: an event without data, whose id a client can resume from. `firstUnsent` is the first event of the
   * stream that was not sent. The primer is inserted before it, or at the end if all events were sent. Removes earlier
   * primers of the stream, because the client will not resume from them. Only the primer with the sequence number
   * `resumedFrom` stays.
   */
  insertPrimer(
    primer: EventFrame,
    firstUnsent: EventFrame | undefined,
    resumedFrom: number | undefined,
  ): void {
    const isObsolete = (frame: EventFrame): boolean =>
      isPrimer(frame) && frame.stream === primer.stream && frame.sequence !== resumedFrom;
    for (const frame of this.events.filter(isObsolete)) this.withdraw(frame);
    const index = firstUnsent ? this.events.indexOf(firstUnsent) : -1;
    if (!firstUnsent) this.append(primer);
    else this.events.splice(Math.max(0, index), 0, primer);
  }

  /**
   * Returns the events of one stream after the event with this sequence number, in the order in which they were appended.
   * If that event is neither in the buffer nor in `lastDropped`, returns the events with higher numbers.
   */
  after(stream: string, sequence: number): EventFrame[] {
    const index = this.events.findLastIndex((frame) => frame.sequence === sequence);
    // Positions are more reliable than numbers: a primer has a higher number than the unsent events that follow it.
    const later =
      index !== -1 || this.isLastDropped(sequence)
        ? this.events.slice(index + 1)
        : this.events.filter((frame) => frame.sequence > sequence);
    return later.filter((frame) => frame.stream === stream && !isPrimer(frame));
  }

  has(sequence: number): boolean {
    return this.events.some((frame) => frame.sequence === sequence);
  }

  /**
   * Whether the buffer has every event of the standalone stream after the event with this sequence number. If that
   * event is not in the buffer, the result may be false although no later event was dropped.
   */
  isCompleteAfter(sequence: number): boolean {
    const { event, primer } = this.lastDropped;
    const hasDropped = event !== undefined || primer !== undefined;
    return !hasDropped || this.has(sequence) || this.isLastDropped(sequence);
  }

  private isLastDropped(sequence: number): boolean {
    return sequence === this.lastDropped.event || sequence === this.lastDropped.primer;
  }

  private dropOldest(): void {
    const dropped = this.events.shift();
    if (!dropped) return;
    this.bytes -= dropped.size;
    if (dropped.stream !== '') return;
    const { sequence } = dropped;
    this.lastDropped = isPrimer(dropped) ? { ...this.lastDropped, primer: sequence } : { event: sequence };
  }
}
