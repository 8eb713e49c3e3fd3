import { isUtf8 } from 'node:buffer';
import { BoundedBuffer } from '../bounded-buffer/bounded-buffer.js';
import { JsonDocument } from './json-document.js';
import { JsonScanner, type JsonLimit, type JsonLimits } from './json-scanner.js';
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-skip.js';
import { MAX_EAGER_LENGTH } from './json-text.js';
import type { RepeatedMember } from './repeated-member.js';

/** Why a text was refused. The message continues a sentence that begins with the name of the text: `is not JSON`. */
export class JsonProblem extends Error {
  override readonly name = 'JsonProblem';

  constructor(
    readonly reason: 'syntax' | 'encoding' | JsonLimit,
    message: string,
    /** The text, if it was refused because of a limit. A short member, such as an id, can still be read. */
    readonly document?: JsonDocument | undefined,
  ) {
    super(message);
  }
}

/** A text that was accepted, or why it was refused. */
export type ReadJson = JsonDocument | JsonProblem;

export interface JsonReaderOptions extends JsonLimits {
  readonly maxBytes: number;
  /** The size of the first text in bytes, if the sender announced it. */
  readonly expectedBytes?: number;
  /** Parses short texts. Without it, `JSON.parse` does. */
  readonly repeated?: RepeatedMember;
}

/**
 * Reads JSON texts from outside, one after the other. A text is checked while it arrives and before anything is parsed, so
 * that its size, depth or number of members cannot block the event loop.
 */
export class JsonReader {
  private readonly buffer: BoundedBuffer;
  private scanner: JsonScanner | undefined;

  constructor(private readonly options: JsonReaderOptions) {
    this.buffer = new BoundedBuffer(options.maxBytes, options.expectedBytes);
  }

  /** Number of bytes of the current text. */
  get length(): number {
    return this.buffer.length;
  }

  /**
   * Adds a piece of the text. The reader may keep its Buffer. Returns false when the text exceeds `maxBytes`; the reader is then
   * empty.
   */
  append(piece: Buffer): boolean {
    if (!this.buffer.append(piece)) {
      this.scanner = undefined;
      return false;
    }
    if (this.scanner) this.scanner.push(piece);
    else if (this.buffer.length > MAX_EAGER_LENGTH) this.scanner = this.startScanner();
    return true;
  }

  /** Ends the text: returns the text from all pieces and empties the reader. */
  take(): ReadJson {
    const { scanner } = this;
    this.scanner = undefined;
    const bytes = this.buffer.take();
    return scanner ? this.finish(scanner, bytes) : this.read(bytes);
  }

  /** Ends the text without reading it as JSON. */
  takeBytes(): Buffer {
    this.scanner = undefined;
    return this.buffer.take();
  }

  /** Drops what was appended. */
  clear(): void {
    this.takeBytes();
  }

  /** Reads a text that arrived in one piece. Does not touch the text that `append` collects. */
  read(bytes: Buffer, start = 0, end = bytes.length): ReadJson {
    if (end - start > MAX_EAGER_LENGTH) return this.scan(bytes.subarray(start, end));
    const text = bytes.toString('utf8', start, end);
    // Decoding replaces invalid bytes by U+FFFD, which a valid text may contain too.
    const mayBeInvalid = text.includes('\uFFFD');
    if (mayBeInvalid && !isUtf8(bytes.subarray(start, end))) return notUtf8();
    // The scanner finds out whether the text is JSON without parsing it, and still gives access to its short members.
    if (isNestedDeeper(text, this.options.maxDepth)) return this.scan(bytes.subarray(start, end));
    const { repeated } = this.options;
    try {
      if (!repeated) return JsonDocument.of(text, JSON.parse(text));
      const { value, range } = repeated.parse(text);
      return JsonDocument.of(text, value, range);
    } catch {
      return notJson();
    }
  }

  private startScanner(): JsonScanner {
    const scanner = new JsonScanner(this.options);
    scanner.push(this.buffer.bytes);
    return scanner;
  }

  private scan(bytes: Buffer): ReadJson {
    const scanner = new JsonScanner(this.options);
    scanner.push(bytes);
    return this.finish(scanner, bytes);
  }

  private finish(scanner: JsonScanner, bytes: Buffer): ReadJson {
    const outline = scanner.end();
    if (!outline) return notJson();
    if (!isUtf8(bytes)) return notUtf8();
    const document = JsonDocument.scanned(bytes, outline);
    if (scanner.exceeded)
      return new JsonProblem(scanner.exceeded, this.messageOf(scanner.exceeded), document);
    // Only members in the outline can be read without parsing the whole text.
    return outline.isComplete
      ? document
      : new JsonProblem('members', 'has too many members and elements at its outermost level', document);
  }

  private messageOf(limit: JsonLimit): string {
    const { maxDepth, maxMembers } = this.options;
    return limit === 'depth'
      ? `is nested more than ${maxDepth} levels deep`
      : `has more than ${maxMembers} members and elements`;
  }
}

const notJson = (): JsonProblem => new JsonProblem('syntax', 'is not JSON');
const notUtf8 = (): JsonProblem => new JsonProblem('encoding', 'is not UTF-8');

/** Whether the text, which may be invalid, has more than `maxDepth` levels. */
function isNestedDeeper(text: string, maxDepth: number): boolean {
  // Each level takes two brackets.
  const isTooShort = text.length <= 2 * maxDepth;
  if (isTooShort || !hasMoreBrackets(text, maxDepth)) return false;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isInString = !isInString;
    else if (isInString) {
      if (code === BACKSLASH) at++;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth++;
      if (depth > maxDepth) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return false;
}

const OPENING_BRACKETS = ['{', '['];

/**
 * Whether the text has more than `max` opening brackets. This check is fast, and most texts have fewer brackets, so that
 * their depth need not be computed.
 */
function hasMoreBrackets(text: string, max: number): boolean {
  let count = 0;
  for (const bracket of OPENING_BRACKETS)
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      count++;
      if (count > max) return true;
    }
  return false;
}
