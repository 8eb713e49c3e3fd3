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
/** Space for a field name, a colon and a space on the line of the largest event. */
const FIELD_OVERHEAD = 16;

/** Receives one event. The type is `message` if the stream gave none. */
type SseEventListener = (data: string, type: string) => void;

/**
 * Parses a `text/event-stream` (WHATWG HTML, section 9.2) from chunks of bytes with arbitrary boundaries. Reads every
 * byte once and buffers at most one event. An event without data only sets `lastEventId`, the position from which the
 * stream can be resumed.
 */
export class SseParser {
  /** The last `retry` field: the delay before a reconnect. */
  retryMs: number | undefined;
  private readonly line: BoundedBuffer;
  private readonly data: BoundedBuffer;
  private hasData = false;
  private type = '';
  private id: string;
  private isFirstLine = true;
  private endedWithCr = false;

  constructor(
    maxEventBytes: number,
    private readonly onEvent: SseEventListener,
    /** Id of the last complete event. */
    public lastEventId = '',
  ) {
    this.line = new BoundedBuffer(maxEventBytes + FIELD_OVERHEAD);
    this.data = new BoundedBuffer(maxEventBytes);
    this.id = lastEventId;
  }

  /** False when an event exceeds the limit; the rest of the stream cannot be parsed. */
  push(chunk: Buffer): boolean {
    if (chunk.length === 0) return true;
    let start = this.endedWithCr && chunk[0] === LF ? 1 : 0;
    this.endedWithCr = chunk[chunk.length - 1] === CR;
    let lf = find(chunk, LF, start);
    let cr = find(chunk, CR, start);
    for (let end = Math.min(lf, cr); end < chunk.length; end = Math.min(lf, cr)) {
      if (!this.endLine(chunk.subarray(start, end))) return false;
      start = end === cr && chunk[end + 1] === LF ? end + 2 : end + 1;
      if (lf < start) lf = find(chunk, LF, start);
      if (cr < start) cr = find(chunk, CR, start);
    }
    return start >= chunk.length || this.line.append(chunk.subarray(start));
  }

  private endLine(rest: Buffer): boolean {
    if (this.line.length === 0) return this.read(rest);
    return this.line.append(rest) && this.read(this.line.take());
  }

  private read(line: Buffer): boolean {
    const text = this.isFirstLine && line.subarray(0, 3).equals(BYTE_ORDER_MARK) ? line.subarray(3) : line;
    this.isFirstLine = false;
    if (text.length === 0) {
      this.endEvent();
      return true;
    }
    const name = FIELD_NAMES.find((candidate) => hasFieldName(text, candidate));
    if (!name) return true;
    const valueStart = text[name.length + 1] === SPACE ? name.length + 2 : name.length + 1;
    return this.readField(name, text.subarray(valueStart));
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
    if (this.data.length > 0) this.onEvent(this.data.take().toString(), type || 'message');
  }
}

/** Compares bytes, which is cheaper than decoding the name of each line. */
function hasFieldName(line: Buffer, name: Buffer): boolean {
  for (let i = 0; i < name.length; i++) if (line[i] !== name[i]) return false;
  return line.length === name.length || line[name.length] === COLON;
}

/** The index of the next `byte`, or the end of the chunk. */
function find(chunk: Buffer, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from);
  return at === -1 ? chunk.length : at;
}

/** Ids that cannot be sent in a Last-Event-ID header are ignored. */
function isHeaderValue(id: Buffer): boolean {
  return id.length <= MAX_ID_LENGTH && id.every((byte) => byte >= SPACE && byte !== DELETE);
}
