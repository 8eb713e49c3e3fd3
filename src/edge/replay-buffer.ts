import type { EventFrame } from '../mcp/event-frame.js';

/** The last events of a session, for replay after a broken connection. Sessions share the frames of broadcasts. */
export class ReplayBuffer {
  private readonly events: EventFrame[] = [];
  private bytes = 0;

  constructor(
    private readonly maxEvents: number,
    private readonly maxBytes: number,
  ) {}

  append(frame: EventFrame): void {
    this.events.push(frame);
    this.bytes += frame.size;
    while (this.events.length > this.maxEvents || this.bytes > this.maxBytes) this.dropOldest();
  }

  /** Removes a frame that was never sent. The search starts at the end, where such frames are. */
  withdraw(frame: EventFrame): void {
    const index = this.events.lastIndexOf(frame);
    if (index === -1) return;
    if (index === this.events.length - 1) this.events.pop();
    else this.events.splice(index, 1);
    this.bytes -= frame.size;
  }

  /** The events of one stream after a sequence number, oldest first. */
  after(stream: string, sequence: number): EventFrame[] {
    return this.events.filter((frame) => frame.stream === stream && frame.sequence > sequence);
  }

  private dropOldest(): void {
    this.bytes -= this.events.shift()?.size ?? 0;
  }
}
