import { onOneLine } from '../lib/json-text/json-text.js';

/**
 * It begins with the time, so that ids of a later life are above those of an earlier one: a client may come back with
 * one of those. More than a hundred events in each millisecond of a life would be needed to reach the next.
 */
let lastSequence = Date.now() * 100;

/** The sequence of the latest event there is. */
export const latestSequence = (): number => lastSequence;

/** One server-sent event, encoded once and written to any number of streams. */
export interface EventFrame {
  readonly sequence: number;
  /** The stream it is for; empty for a standing one. */
  readonly stream: string;
  /** About as many bytes as it has. */
  readonly size: number;
  readonly bytes: Buffer;
}

/** What was encoded last: a stream mostly takes what the one before it took. */
let encoded = { sequence: 0, bytes: Buffer.alloc(0) };

/**
 * Put together when the first stream takes it, and not before: most events for a reader that is stuck are replaced
 * before they are ever sent. Sessions keep frames for long after that, so they keep nothing but their text: a Buffer
 * is twice as much, and holds on to the memory that it shares with others.
 */
class LazyFrame implements EventFrame {
  readonly sequence = ++lastSequence;
  private text: string | undefined;

  constructor(
    readonly stream: string,
    readonly size: number,
    /** Absent where the event is there for its id alone, and once there is a text. */
    private message?: () => string,
  ) {}

  get bytes(): Buffer {
    this.text ??= this.compose();
    if (encoded.sequence !== this.sequence)
      encoded = { sequence: this.sequence, bytes: Buffer.from(this.text) };
    return encoded.bytes;
  }

  private compose(): string {
    const id = `id: ${eventId(this.sequence, this.stream)}\n`;
    const text = this.message
      ? `event: message\n${id}data: ${onOneLine(this.message())}\n\n`
      : `${id}data: \n\n`;
    this.message = undefined;
    return text;
  }
}

/**
 * An event for a standing stream, or for the stream of one request when `stream` names it. Sequences count over the
 * whole process: they are unique in every session, and one frame can serve them all.
 */
export const eventFrame = (message: string, stream = ''): EventFrame =>
  new LazyFrame(stream, message.length, () => message);

/** An event for standing streams whose message is put together when somebody takes it. */
export const lazyEventFrame = (size: number, message: () => string): EventFrame =>
  new LazyFrame('', size, message);

/** An event without a message: from now on the client has an id to resume from. */
export const primingFrame = (stream: string): EventFrame => new LazyFrame(stream, 0);

const eventId = (sequence: number, stream: string): string =>
  stream ? `${sequence}.${stream}` : `${sequence}`;

/** The place a client wants to resume from; undefined when it is no id of ours. */
export function parseEventId(id: string): { sequence: number; stream: string } | undefined {
  const match = /^(\d{1,15})(?:\.([a-z0-9]{1,16}))?$/.exec(id);
  return match ? { sequence: Number(match[1]), stream: match[2] ?? '' } : undefined;
}

/** Keeps proxies from closing a quiet stream, and finds out that a client is gone. */
export const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');
