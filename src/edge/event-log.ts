import type { EventFrame } from '../mcp/event-frame.js';

interface Logged {
  readonly stream: string;
  readonly frame: EventFrame;
}

/** The last events of a session, so that a stream that broke can be taken up where it broke. */
export class EventLog {
  private events: Logged[] = [];
  private bytes = 0;

  constructor(
    private readonly maxEvents: number,
    private readonly maxBytes: number,
  ) {}

  append(stream: string, frame: EventFrame): void {
    this.events.push({ stream, frame });
    this.bytes += frame.size;
    while (this.events.length > this.maxEvents || this.bytes > this.maxBytes) this.dropOldest();
  }

  /** The events of one stream that came after a sequence, oldest first. */
  after(stream: string, sequence: number): EventFrame[] {
    return this.events
      .filter((event) => event.stream === stream && event.frame.sequence > sequence)
      .map((event) => event.frame);
  }

  private dropOldest(): void {
    const dropped = this.events.shift();
    this.bytes -= dropped?.frame.size ?? 0;
  }
}
