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
  TOP,
  TRANSITIONS,
} from './json-grammar.js';

/** Limits of one JSON text. */
export interface JsonLimits {
  /** Maximum number of levels of nested arrays and objects. */
  readonly maxDepth: number;
  /** Maximum number of array elements and object members at all levels together. */
  readonly maxMembers: number;
}

/** The limit that a text exceeds. The scanner does not check `size`; callers use it for texts that they do not read. */
export type JsonLimit = 'depth' | 'members' | 'size';

/**
 * The byte positions of brackets, colons and commas in the order of the text. With them, members and elements are found
 * without reading the text again.
 */
export interface JsonOutline {
  readonly kind: 'object' | 'array' | 'scalar';
  /** The positions in the outermost object or array. */
  readonly outer: readonly number[];
  /**
   * The positions in the objects and arrays directly inside the outermost one. The list has a maximum length, so it may
   * lack the last positions.
   */
  readonly inner: readonly number[];
  /** False when `outer` reached its maximum length, so that later positions are missing. */
  readonly isComplete: boolean;
}

/** Maximum lengths of `outer` and `inner`. */
const MAX_OUTER_POSITIONS = 2048;
const MAX_INNER_POSITIONS = 8192;
/** Positions are recorded in the outermost container and in those directly inside it. */
const MAX_RECORDED_DEPTH = 2;

/**
 * Checks the grammar, as `JSON.parse` does, and the limits of a JSON text that arrives in pieces. Each piece is checked
 * when it arrives, so that a large text does not block the event loop when it is complete. Nesting needs no recursion.
 *
 * A text that exceeds a limit is scanned to its end, so that its short members, such as an id, can still be read.
 */
export class JsonScanner {
  private state = START;
  private depth = 0;
  private members = 0;
  private isTooDeep = false;
  /** The kind of the container at each depth. At depth 0 it is `TOP`. */
  private readonly kinds: Uint8Array;
  /** Number of bytes scanned so far. While `push` runs: the position in the whole text of index 0 of its `bytes`. */
  private offset = 0;
  private readonly outer: number[] = [];
  private readonly inner: number[] = [];
  private isComplete = true;

  constructor(private readonly limits: JsonLimits) {
    this.kinds = new Uint8Array(limits.maxDepth + 1).fill(TOP);
  }

  /** Undefined while the text is within its limits. */
  get exceeded(): JsonLimit | undefined {
    if (this.isTooDeep) return 'depth';
    return this.members > this.limits.maxMembers ? 'members' : undefined;
  }

  /** Scans the next piece. The bytes are not kept. */
  push(bytes: Uint8Array, from = 0, to = bytes.length): void {
    // Until the end of this function, the byte at index `at` is at `offset + at` in the whole text.
    this.offset -= from;
    let { state } = this;
    for (let at = from; at < to; at++) {
      const next = TRANSITIONS[(state << CLASS_BITS) | BYTE_CLASSES[bytes[at]!]!]!;
      state = next < FIRST_ACTION ? next : this.act(next, at);
      // Most bytes of a string are skipped without the table.
      if (isInString(state)) at = lastPlainByte(bytes, at, to);
    }
    this.state = state;
    this.offset += to;
  }

  /** Call this after the last piece. Returns the outline, or undefined if the text is not JSON. */
  end(): JsonOutline | undefined {
    if (this.depth > 0 || !isEnd(this.state)) return undefined;
    const { kind, outer, inner, isComplete } = this;
    return { kind, outer, inner, isComplete };
  }

  private get kind(): JsonOutline['kind'] {
    const outermost = this.kinds[1];
    if (outermost === OBJECT) return 'object';
    return outermost === ARRAY ? 'array' : 'scalar';
  }

  /** Carries out an action of the table. Returns the next state. */
  private act(action: number, at: number): number {
    switch (action) {
      case COMMA_IN_ARRAY:
        return this.separate(at, NEXT_ELEMENT);
      case COMMA_IN_OBJECT:
        return this.separate(at, NEXT_KEY);
      case COLON:
        this.record(at);
        return MEMBER_VALUE;
      case OPEN_ARRAY:
        return this.open(at, ARRAY, FIRST_ELEMENT);
      case OPEN_OBJECT:
        return this.open(at, OBJECT, FIRST_KEY);
      default:
        return this.close(at, action === CLOSE_EMPTY);
    }
  }

  private separate(at: number, nextState: number): number {
    this.members++;
    this.record(at);
    return nextState;
  }

  private open(at: number, kind: number, nextState: number): number {
    this.depth++;
    if (this.depth > this.limits.maxDepth) {
      this.isTooDeep = true;
      return SKIP;
    }
    this.record(at);
    this.kinds[this.depth] = kind;
    return nextState;
  }

  private close(at: number, isEmpty: boolean): number {
    // No comma follows the last member, so it is counted here.
    if (!isEmpty) this.members++;
    this.record(at);
    this.depth--;
    return this.depth > this.limits.maxDepth ? SKIP : afterValueIn(this.kinds[this.depth]!);
  }

  /** Records a position, unless it is too deep or the list of positions is full. */
  private record(at: number): void {
    if (this.depth > MAX_RECORDED_DEPTH) return;
    const isOuter = this.depth === 1;
    const positions = isOuter ? this.outer : this.inner;
    const maxLength = isOuter ? MAX_OUTER_POSITIONS : MAX_INNER_POSITIONS;
    if (positions.length < maxLength) positions.push(this.offset + at);
    else if (isOuter) this.isComplete = false;
  }
}

/** The position before the next byte that ends the string, begins an escape or is not allowed in a string. */
function lastPlainByte(bytes: Uint8Array, from: number, to: number): number {
  let next = from + 1;
  while (next < to && PLAIN_BYTES[bytes[next]!] === 1) next++;
  return next - 1;
}
