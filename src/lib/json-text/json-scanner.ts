import {
  afterValueIn,
  ARRAY,
  BYTE_CLASSES,
  CLASS_BITS,
  CLOSE_EMPTY,
  COLON,
  COMMA_IN_ARRAY,
  COMMA_IN_OBJECT,
  FIRST_ACTION,
  FIRST_ELEMENT,
  FIRST_KEY,
  isEnd,
  isInString,
  MEMBER_VALUE,
  NEXT_ELEMENT,
  NEXT_KEY,
  OBJECT,
  OPEN_ARRAY,
  OPEN_OBJECT,
  PLAIN_BYTES,
  SKIP,
  START,
  TRANSITIONS,
} from './json-grammar.js';

/** Limits of one JSON text. */
export interface JsonLimits {
  /** Levels of nested arrays and objects. */
  readonly maxDepth: number;
  /** Array elements and object members, at all levels together. */
  readonly maxMembers: number;
}

/** The limit that a text exceeds. */
export type JsonLimit = 'depth' | 'members' | 'size';

/**
 * The byte positions of brackets, colons and commas in the order of the text, by which members and elements are found
 * without reading the text again.
 */
export interface JsonOutline {
  readonly kind: 'object' | 'array' | 'scalar';
  /** The positions in the outermost object or array. */
  readonly outer: readonly number[];
  /**
   * The positions in the objects and arrays directly inside the outermost one. The list has a maximum length, so it may
   * end within one of them.
   */
  readonly inner: readonly number[];
  /** False when `outer` reached its maximum length, so that later positions are missing. */
  readonly isComplete: boolean;
}

const MAX_OUTER = 2048;
const MAX_INNER = 8192;

/**
 * Checks a JSON text that arrives in pieces: its grammar, as `JSON.parse` does, and its limits. The work is done piece
 * by piece, so that a large text does not block the event loop when it is complete. Nesting needs no stack of calls.
 *
 * A text over a limit is scanned to its end, so that short members after the excess, such as an id, can still be read.
 */
export class JsonScanner {
  private state = START;
  private depth = 0;
  private members = 0;
  private isTooDeep = false;
  /** The kind of the container at each depth. */
  private readonly kinds: Uint8Array;
  /** The position in the text of index 0 of the current piece. */
  private offset = 0;
  private readonly outer: number[] = [];
  private readonly inner: number[] = [];
  private isComplete = true;

  constructor(private readonly limits: JsonLimits) {
    this.kinds = new Uint8Array(limits.maxDepth + 1);
  }

  /** Undefined while the text is within its limits. */
  get exceeded(): JsonLimit | undefined {
    if (this.isTooDeep) return 'depth';
    return this.members > this.limits.maxMembers ? 'members' : undefined;
  }

  /** Scans the next piece. The bytes are not kept. */
  push(bytes: Uint8Array, from = 0, to = bytes.length): void {
    this.offset -= from;
    let { state } = this;
    for (let at = from; at < to; at++) {
      const next = TRANSITIONS[(state << CLASS_BITS) | BYTE_CLASSES[bytes[at]!]!]!;
      state = next < FIRST_ACTION ? next : this.act(next, at);
      if (isInString(state)) at = lastPlainByte(bytes, at, to);
    }
    this.state = state;
    this.offset += to;
  }

  /** To be called after the last piece: the outline, or undefined if the text is not JSON. */
  end(): JsonOutline | undefined {
    if (this.depth > 0 || !isEnd(this.state)) return undefined;
    const kind = this.kinds[1] === OBJECT ? 'object' : this.kinds[1] === ARRAY ? 'array' : 'scalar';
    const { outer, inner, isComplete } = this;
    return { kind, outer, inner, isComplete };
  }

  /** Carries out an action of the table. Returns the next state. */
  private act(action: number, at: number): number {
    switch (action) {
      case COMMA_IN_ARRAY:
        return this.separate(at, NEXT_ELEMENT);
      case COMMA_IN_OBJECT:
        return this.separate(at, NEXT_KEY);
      case COLON:
        if (this.depth <= 2) this.record(at);
        return MEMBER_VALUE;
      case OPEN_ARRAY:
        return this.open(at, ARRAY, FIRST_ELEMENT);
      case OPEN_OBJECT:
        return this.open(at, OBJECT, FIRST_KEY);
      default:
        return this.close(at, action === CLOSE_EMPTY);
    }
  }

  private separate(at: number, state: number): number {
    this.members++;
    if (this.depth <= 2) this.record(at);
    return state;
  }

  private open(at: number, kind: number, state: number): number {
    if (++this.depth > this.limits.maxDepth) {
      this.isTooDeep = true;
      return SKIP;
    }
    if (this.depth <= 2) this.record(at);
    this.kinds[this.depth] = kind;
    return state;
  }

  private close(at: number, isEmpty: boolean): number {
    if (!isEmpty) this.members++;
    if (this.depth <= 2) this.record(at);
    return --this.depth > this.limits.maxDepth
      ? SKIP
      : afterValueIn(this.depth === 0 ? 0 : this.kinds[this.depth]!);
  }

  private record(at: number): void {
    const isOuter = this.depth === 1;
    const positions = isOuter ? this.outer : this.inner;
    if (positions.length < (isOuter ? MAX_OUTER : MAX_INNER)) positions.push(this.offset + at);
    else if (isOuter) this.isComplete = false;
  }
}

/** The position of the last byte before one that ends a string, begins an escape or is not allowed in a string. */
function lastPlainByte(bytes: Uint8Array, from: number, to: number): number {
  let next = from + 1;
  while (next < to && PLAIN_BYTES[bytes[next]!] === 1) next++;
  return next - 1;
}
