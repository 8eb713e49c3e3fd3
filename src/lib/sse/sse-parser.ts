import { BoundedBuffer } from '../bounded-buffer/bounded-buffer.js';

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const DELETE = 0x7f;
const NEWLINE = Buffer.from('\n');
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
const DATA = Buffer.from('data');
const EVENT = Buffer.from('event');
const ID = Buffer.from('id');
const RETRY = Buffer.from('retry');
const FIELD_NAMES = [DATA, EVENT, ID, RETRY];
const MAX_ID_LENGTH = 1024;
/** Bytes that a line may have in addition to its value: field name, colon and space. */
const FIELD_OVERHEAD = 16;
/**
 * Length of the longest start of a data line: byte order mark, `data:` and space. When so many bytes of a line have
 * arrived, the parser can tell whether the line is data and where its value starts.
 */
const MAX_DATA_PREFIX_BYTES = BYTE_ORDER_MARK.length + DATA.length + 2;

/** Collects the data of one event, piece by piece. */
export interface EventData<Data> {
  /** Number of bytes of the current event. */
  readonly length: number;
  /** Returns false when the data exceeds its limit. */
  append(bytes: Buffer): boolean;
  /** Ends the event: returns its data and begins the next event. */
  take(): Data;
}

/** Receives one event. The type is `message` if the event has no `event` field. */
type SseEventListener<Data> = (data: Data, type: string) => void;

/**
 * Parses a `text/event-stream` (WHATWG HTML, section 9.2) from chunks of bytes with arbitrary boundaries. Reads every byte
 * once and buffers at most one event. Data is passed to `EventData` as it arrives, even if its line is incomplete. An event
 * without data is not passed to the listener; it only sets `lastEventId`, the position from which the stream can be
 * resumed.
 */
export class EventStreamParser<Data> {
  /** The last `retry` field: the delay before a reconnect. */
  retryMs: number | undefined;
  /** The bytes of the incomplete line. Empty for a data line, whose value goes to `data`. */
  private readonly line: BoundedBuffer;
  /** The kind of the incomplete line; undefined until enough bytes have arrived to tell. */
  private lineKind: 'data' | 'other' | undefined;
  /** Whether the current event has a data line. */
  private hasData = false;
  private type = '';
  private id: string;
  private isFirstLine = true;
  /** Whether the last chunk ended with CR. An LF at the start of the next chunk then belongs to the same line ending. */
  private endedWithCr = false;

  constructor(
    maxEventBytes: number,
    private readonly data: EventData<Data>,
    private readonly onEvent: SseEventListener<Data>,
    /** Id of the last complete event. */
    public lastEventId = '',
  ) {
    this.line = new BoundedBuffer(maxEventBytes + FIELD_OVERHEAD);
    this.id = lastEventId;
  }

  /** Number of buffered bytes of the event that has not ended. */
  get heldBytes(): number {
    return this.line.length + this.data.length;
  }

  /** Parses a chunk. Returns false when an event exceeds the limit; the rest of the stream then cannot be parsed. */
  push(chunk: Buffer): boolean {
    if (chunk.length === 0) return true;
    let start = this.endedWithCr && chunk[0] === LF ? 1 : 0;
    this.endedWithCr = chunk[chunk.length - 1] === CR;
    let nextLf = indexOrEnd(chunk, LF, start);
    let nextCr = indexOrEnd(chunk, CR, start);
    for (let end = Math.min(nextLf, nextCr); end < chunk.length; end = Math.min(nextLf, nextCr)) {
      if (!this.endLine(chunk.subarray(start, end))) return false;
      start = end === nextCr && chunk[end + 1] === LF ? end + 2 : end + 1;
      if (nextLf < start) nextLf = indexOrEnd(chunk, LF, start);
      if (nextCr < start) nextCr = indexOrEnd(chunk, CR, start);
    }
    return start >= chunk.length || this.continueLine(chunk.subarray(start));
  }

  /** Ends the current line with its last part. Returns false when a limit is exceeded, as do the methods that it calls. */
  private endLine(lastPart: Buffer): boolean {
    const { lineKind } = this;
    this.lineKind = undefined;
    if (lineKind === 'data') return this.data.append(lastPart);
    if (this.line.length === 0) return this.readLine(lastPart);
    return this.line.append(lastPart) && this.readLine(this.line.take());
  }

  /** Adds a part of a line that has not ended. */
  private continueLine(part: Buffer): boolean {
    if (this.lineKind === 'data') return this.data.append(part);
    if (!this.line.append(part)) return false;
    if (this.lineKind !== undefined || this.line.length < MAX_DATA_PREFIX_BYTES) return true;
    const line = this.line.take();
    const field = this.withoutByteOrderMark(line);
    this.lineKind = hasFieldName(field, DATA) ? 'data' : 'other';
    if (this.lineKind === 'other') return this.line.append(line);
    return this.readLine(line);
  }

  private withoutByteOrderMark(line: Buffer): Buffer {
    return this.isFirstLine && line.subarray(0, 3).equals(BYTE_ORDER_MARK) ? line.subarray(3) : line;
  }

  /** Reads a complete line, or the first bytes of an incomplete data line. */
  private readLine(line: Buffer): boolean {
    const field = this.withoutByteOrderMark(line);
    this.isFirstLine = false;
    if (field.length === 0) {
      this.endEvent();
      return true;
    }
    const name = FIELD_NAMES.find((candidate) => hasFieldName(field, candidate));
    if (!name) return true;
    const valueStart = field[name.length + 1] === SPACE ? name.length + 2 : name.length + 1;
    return this.readField(name, field.subarray(valueStart));
  }

  private readField(name: Buffer, value: Buffer): boolean {
    if (name === DATA) return this.addData(value);
    if (name === EVENT) this.type = value.toString();
    else if (name === ID && isHeaderValue(value)) this.id = value.toString();
    else if (name === RETRY && /^\d{1,15}$/.test(value.toString('latin1'))) this.retryMs = Number(value);
    return true;
  }

  private addData(value: Buffer): boolean {
    if (this.hasData && !this.data.append(NEWLINE)) return false;
    this.hasData = true;
    return this.data.append(value);
  }

  private endEvent(): void {
    this.lastEventId = this.id;
    const { type } = this;
    this.type = '';
    this.hasData = false;
    if (this.data.length > 0) this.onEvent(this.data.take(), type || 'message');
  }
}

/** A parser whose listener gets the data of each event as text. */
export class SseParser extends EventStreamParser<string> {
  constructor(maxEventBytes: number, onEvent: SseEventListener<string>, lastEventId = '') {
    super(maxEventBytes, new TextData(maxEventBytes), onEvent, lastEventId);
  }
}

class TextData implements EventData<string> {
  private readonly bytes: BoundedBuffer;

  constructor(limit: number) {
    this.bytes = new BoundedBuffer(limit);
  }

  get length(): number {
    return this.bytes.length;
  }

  append(bytes: Buffer): boolean {
    return this.bytes.append(bytes);
  }

  take(): string {
    return this.bytes.take().toString();
  }
}

/** Compares bytes, which is cheaper than decoding the name of each line. */
function hasFieldName(line: Buffer, name: Buffer): boolean {
  for (let i = 0; i < name.length; i++) if (line[i] !== name[i]) return false;
  return line.length === name.length || line[name.length] === COLON;
}

/** The index of the next `byte`, or the length of the chunk. */
function indexOrEnd(chunk: Buffer, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from);
  return at === -1 ? chunk.length : at;
}

/** Whether the id can be sent in a Last-Event-ID header. The parser ignores other ids. */
function isHeaderValue(id: Buffer): boolean {
  return id.length <= MAX_ID_LENGTH && id.every((byte) => byte >= SPACE && byte !== DELETE);
}
