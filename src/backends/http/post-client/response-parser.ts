import { FIELD, parseHead, type ResponseHead } from './head-parser.js';
import type { ResponseHeaders } from '../response-headers.js';

/** Node's own client has the same limit. */
const LARGEST_HEAD = 16 * 1024;
/** The size of a chunk with whatever extensions, and all that may follow the last one. */
const LONGEST_LINE = 4 * 1024;
const CHUNK_SIZE = /^0*([\da-f]{1,8})(?:[ \t]*;[\t -~\x80-\xff]*)?$/i;
const NONE = Buffer.alloc(0);

/** Takes one response after the other. */
export interface ResponseSink {
  onHead(status: number, headers: ResponseHeaders): void;
  onBody(bytes: Buffer): void;
  /** The response is whole. */
  onEnd(): void;
}

type Step = 'head' | 'body' | 'rest' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'over';

/** Reads the responses that come on one connection, in pieces of any size. */
export class ResponseParser {
  /** Of the response that is being read. */
  head: ResponseHead | undefined;
  private step: Step = 'head';
  /** Bytes to come of a body or chunk. */
  private left = 0;
  /** The beginning of a head or line whose end has not come. */
  private begun: Buffer = NONE;
  private trailing = 0;

  constructor(private readonly sink: ResponseSink) {}

  /** For the next response. */
  reset(): void {
    this.head = undefined;
    this.step = 'head';
    this.trailing = 0;
  }

  /**
   * Throws when this is no response, or more than one: the connection is of no use after that. The sink gets parts of
   * `bytes` as they are.
   */
  push(bytes: Buffer): void {
    const all = this.begun === NONE ? bytes : Buffer.concat([this.begun, bytes]);
    this.begun = NONE;
    let at = 0;
    while (at < all.length) {
      const next = this.take(all, at);
      if (next === at) {
        this.begun = Buffer.from(all.subarray(at));
        return;
      }
      at = next;
    }
  }

  /** The server says no more. True when that was the end of the response. */
  close(): boolean {
    if (this.step !== 'rest') return false;
    this.finish();
    return true;
  }

  /** Returns where the next step begins; the same place when there is not enough for this one. */
  private take(bytes: Buffer, at: number): number {
    switch (this.step) {
      case 'head':
        return this.takeHead(bytes, at);
      case 'body':
      case 'chunk':
        return this.takeBody(bytes, at);
      case 'rest':
        this.sink.onBody(bytes.subarray(at));
        return bytes.length;
      case 'over':
        throw new Error('the server sent more than a response');
      default:
        return this.takeLine(bytes, at);
    }
  }

  private takeHead(bytes: Buffer, at: number): number {
    const end = bytes.indexOf('\r\n\r\n', at, 'latin1');
    if ((end === -1 ? bytes.length : end) - at > LARGEST_HEAD)
      throw new Error(`the head of the response has more than ${LARGEST_HEAD} bytes`);
    if (end === -1) return at;
    const head = parseHead(bytes.toString('latin1', at, end));
    if (head.status === 101) throw new Error('the server changed to another protocol');
    // What comes ahead of a response says nothing that we ask for.
    if (head.status >= 200) this.begin(head);
    return end + 4;
  }

  private begin(head: ResponseHead): void {
    this.head = head;
    this.sink.onHead(head.status, head.headers);
    if (head.body === 'chunked') this.step = 'chunk-size';
    else if (head.body === 'rest') this.step = 'rest';
    else this.expect(head.body, 'body');
    if (head.body === 0) this.finish();
  }

  private takeBody(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.left, bytes.length);
    this.left -= end - at;
    this.sink.onBody(bytes.subarray(at, end));
    if (this.left === 0) {
      if (this.step === 'chunk') this.step = 'chunk-end';
      else this.finish();
    }
    return end;
  }

  private takeLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf('\r\n', at, 'latin1');
    if ((end === -1 ? bytes.length : end) - at > LONGEST_LINE)
      throw new Error('the response has a line between its chunks that is too long');
    if (end === -1) return at;
    this.readLine(bytes.toString('latin1', at, end));
    return end + 2;
  }

  private readLine(line: string): void {
    if (this.step === 'trailers') this.passTrailer(line);
    else if (this.step === 'chunk-size') this.beginChunk(line);
    else if (line === '') this.step = 'chunk-size';
    else throw new Error('the response has a chunk that is longer than it says');
  }

  private beginChunk(line: string): void {
    const size = CHUNK_SIZE.exec(line)?.[1];
    if (size === undefined) throw new Error('the response has a chunk whose size cannot be read');
    this.expect(Number.parseInt(size, 16), 'chunk');
    if (this.left === 0) this.step = 'trailers';
  }

  /** They are of no interest, but there may not be any number of them. */
  private passTrailer(line: string): void {
    this.trailing += line.length;
    if (line === '') this.finish();
    else if (!FIELD.test(line)) throw new Error('the response ends in lines that cannot be read');
    else if (this.trailing > LONGEST_LINE) throw new Error('the response has too much after its end');
  }

  private expect(bytes: number, step: Step): void {
    this.left = bytes;
    this.step = step;
  }

  private finish(): void {
    this.step = 'over';
    this.sink.onEnd();
  }
}
