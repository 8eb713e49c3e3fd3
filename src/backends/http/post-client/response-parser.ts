import { isField, parseResponseHead, type ResponseHead } from './response-head.js';

/** Maximum size of a head, as in Node's HTTP client by default. */
const MAX_HEAD_BYTES = 16 * 1024;
/** Maximum bytes of the line that states the size of a chunk, and of all trailers together. */
const MAX_LINE_BYTES = 4 * 1024;
const END_OF_HEAD = '\r\n\r\n';
const END_OF_LINE = '\r\n';
const TOKEN = "[!#$%&'*+.^_`|~\\w-]+";
const QUOTED = String.raw`"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"`;
/** The size line of a chunk: its size in hexadecimal and extensions, which are ignored (RFC 9112, 7.1.1). */
const CHUNK_SIZE = new RegExp(`^0*([\\da-f]{1,8})(?:;${TOKEN}(?:=(?:${TOKEN}|${QUOTED}))?)*$`, 'i');
const EMPTY = Buffer.alloc(0);

export interface ResponseReceiver {
  onHead(head: ResponseHead): void;
  /** The memory of `bytes` is reused after the call, so the receiver must copy bytes that it needs later. */
  onBody(bytes: Buffer): void;
}

type State = 'head' | 'body' | 'until-close' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'complete';

/** Parses the HTTP/1.1 responses of one connection, one after the other, from pieces of any size. */
export class ResponseParser {
  /** The head of the response that is being parsed. */
  head: ResponseHead | undefined;
  private receiver: ResponseReceiver | undefined;
  private state: State = 'complete';
  /** Number of bytes of the current body or chunk that have not arrived. */
  private remaining = 0;
  /** The beginning of a head or line whose end has not arrived. */
  private partial: Buffer = EMPTY;
  private trailerBytes = 0;
  /**
   * The latest head, parsed. The head of the next response is often the same text: usually only its date differs, and that
   * changes only once per second.
   */
  private latestHead: { readonly text: string; readonly head: ResponseHead } | undefined;

  /** `onComplete` is called when a whole response has arrived. */
  constructor(private readonly onComplete: () => void) {}

  /** Prepares for the next response. */
  start(receiver: ResponseReceiver): void {
    this.receiver = receiver;
    this.head = undefined;
    this.state = 'head';
    this.trailerBytes = 0;
  }

  /** Throws when the response is invalid, or when bytes arrive after its end. The connection must not be used after that. */
  push(bytes: Buffer): void {
    const all = this.partial === EMPTY ? bytes : Buffer.concat([this.partial, bytes]);
    this.partial = EMPTY;
    let at = 0;
    while (at < all.length) {
      const next = this.parsePart(all, at);
      if (next === at) {
        this.partial = Buffer.from(all.subarray(at));
        return;
      }
      at = next;
    }
  }

  /** To be called when the server has ended the connection. Returns true when that completes the response. */
  close(): boolean {
    if (this.state !== 'until-close') return false;
    this.complete();
    return true;
  }

  /** Parses the part that the current state expects. Returns the position after it, or `at` when bytes are missing. */
  private parsePart(bytes: Buffer, at: number): number {
    switch (this.state) {
      case 'head':
        return this.parseHead(bytes, at);
      case 'body':
      case 'chunk':
        return this.passOnBody(bytes, at);
      case 'until-close':
        this.receiver?.onBody(bytes.subarray(at));
        return bytes.length;
      case 'complete':
        throw new Error('the server sent more than a response');
      default:
        return this.parseLine(bytes, at);
    }
  }

  private parseHead(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(END_OF_HEAD, at, 'latin1');
    if ((end === -1 ? bytes.length : end) - at > MAX_HEAD_BYTES)
      throw new Error(`the head of the response has more than ${MAX_HEAD_BYTES} bytes`);
    if (end === -1) return at;
    const head = this.headOf(bytes.toString('latin1', at, end));
    if (head.status === 101) throw new Error('the server changed to another protocol');
    if (head.status >= 200) this.beginBody(head);
    // An interim response (RFC 9110, 15.2) is skipped. The final response follows on the same connection.
    else if (!head.isPersistent) throw new Error('the server closed the connection before its response');
    return end + END_OF_HEAD.length;
  }

  private headOf(text: string): ResponseHead {
    if (this.latestHead?.text === text) return this.latestHead.head;
    const head = parseResponseHead(text);
    this.latestHead = { text, head };
    return head;
  }

  private beginBody(head: ResponseHead): void {
    this.head = head;
    this.receiver?.onHead(head);
    if (head.bodyLength === 'chunked') this.state = 'chunk-size';
    else if (head.bodyLength === 'until-close') this.state = 'until-close';
    else if (head.bodyLength === 0) this.complete();
    else this.expectBytes(head.bodyLength, 'body');
  }

  private passOnBody(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.remaining, bytes.length);
    this.remaining -= end - at;
    this.receiver?.onBody(bytes.subarray(at, end));
    if (this.remaining === 0) {
      if (this.state === 'chunk') this.state = 'chunk-end';
      else this.complete();
    }
    return end;
  }

  private parseLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(END_OF_LINE, at, 'latin1');
    if ((end === -1 ? bytes.length : end) - at > MAX_LINE_BYTES)
      throw new Error('the response has a line between its chunks that is too long');
    if (end === -1) return at;
    this.handleLine(bytes.toString('latin1', at, end));
    return end + END_OF_LINE.length;
  }

  private handleLine(line: string): void {
    if (this.state === 'trailers') this.skipTrailer(line);
    else if (this.state === 'chunk-size') this.beginChunk(line);
    // In the state `chunk-end`, only the line break after the chunk may follow.
    else if (line === '') this.state = 'chunk-size';
    else throw new Error('the response has a chunk that is longer than its size line says');
  }

  private beginChunk(line: string): void {
    const size = CHUNK_SIZE.exec(line)?.[1];
    if (size === undefined) throw new Error('the response has a chunk with an invalid size');
    this.expectBytes(Number.parseInt(size, 16), 'chunk');
    if (this.remaining === 0) this.state = 'trailers';
  }

  private skipTrailer(line: string): void {
    this.trailerBytes += line.length;
    if (line === '') this.complete();
    else if (!isField(line)) throw new Error('the response has an invalid trailer');
    else if (this.trailerBytes > MAX_LINE_BYTES) throw new Error('the response has too many trailers');
  }

  private expectBytes(bytes: number, state: State): void {
    this.remaining = bytes;
    this.state = state;
  }

  private complete(): void {
    this.state = 'complete';
    this.receiver = undefined;
    this.onComplete();
  }
}
