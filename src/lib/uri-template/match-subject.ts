/** One variable of an expression. `maxLength` is the number in `{name:3}`, in characters before encoding. */
export interface Variable {
  readonly name: string;
  readonly maxLength: number;
  readonly explode: boolean;
}

/**
 * Matches the texts that one expression may produce. Both methods take one pass over the subject. `ends` and the result of
 * `starts` are sets of positions, as arrays with one byte for each position of the subject: 1 if the position is in the
 * set.
 */
export interface ExpressionMatcher {
  /** The positions at which a match that ends at one of `ends` can begin. */
  starts(subject: MatchSubject, ends: Uint8Array): Uint8Array;
  /**
   * The last of `ends` at which a match that begins at `start` can end. `start` must be in the set that `starts` returns for
   * the same `ends`.
   */
  farthestEnd(subject: MatchSubject, start: number, ends: Uint8Array): number;
}

/** Returned if there is no position. */
export const NO_POSITION = -1;

/** The characters that end a value. */
export class Delimiters {
  private readonly codes = new Uint8Array(0x10000);

  constructor(readonly characters: string) {
    for (const character of characters) this.codes[character.charCodeAt(0)] = 1;
  }

  has(code: number): boolean {
    return this.codes[code] === 1;
  }
}

/**
 * The part of a URI between the first and the last literal of a template, with tables that are computed at their first use.
 */
export class MatchSubject {
  private readonly positions = new Map<string, readonly number[]>();
  private codeTable: Uint16Array | undefined;
  private countTable: Uint32Array | undefined;

  constructor(readonly text: string) {}

  /** The UTF-16 code of every character, and a zero after the last one. */
  get codes(): Uint16Array {
    this.codeTable ??= codesOf(this.text);
    return this.codeTable;
  }

  /** The number of characters before each position, counted as RFC 6570 counts them. */
  get counts(): Uint32Array {
    this.countTable ??= countCharacters(this.text);
    return this.countTable;
  }

  /** The ascending positions of these characters. */
  positionsOf(characters: string): readonly number[] {
    let positions = this.positions.get(characters);
    if (positions === undefined) {
      const found = characters.split('').flatMap((character) => positionsOf(this.text, character));
      positions = found.toSorted((a, b) => a - b);
      this.positions.set(characters, positions);
    }
    return positions;
  }

  /** The end of the longest value that begins at `from`. */
  valueEnd(from: number, delimiters: Delimiters, maxLength: number): number {
    const { codes } = this;
    const length = codes.length - 1;
    const counts = maxLength === Infinity ? undefined : this.counts;
    let end = from;
    while (end < length && !delimiters.has(codes[end]!) && fits(counts, from, end + 1, maxLength)) end++;
    return end;
  }

  /** The positions at which the literal begins and has its end at one of `ends`. Takes linear time (Knuth-Morris-Pratt). */
  positionsBefore(literal: string, ends: Uint8Array): Uint8Array {
    if (literal === '') return ends;
    const { codes } = this;
    const positions = new Uint8Array(ends.length);
    const literalCodes = codesOf(literal);
    const failures = failureTable(literalCodes);
    let matchedLength = 0;
    for (let at = 0; at < codes.length - 1; at++) {
      matchedLength = advance(literalCodes, failures, matchedLength, codes[at]!);
      if (matchedLength < literal.length) continue;
      positions[at + 1 - matchedLength] = ends[at + 1]!;
      matchedLength = failures[matchedLength]!;
    }
    return positions;
  }
}

/** Whether a value from `from` to `to` has at most `maxLength` characters. Always true if `counts` is undefined. */
export const fits = (counts: Uint32Array | undefined, from: number, to: number, maxLength: number): boolean =>
  counts === undefined || counts[to]! - counts[from]! <= maxLength;

/** The last of `ends` from `from` to `to`, both included, or `NO_POSITION`. */
export function lastEnd(ends: Uint8Array, from: number, to: number): number {
  let at = to;
  while (at >= from && ends[at] !== 1) at--;
  return at >= from ? at : NO_POSITION;
}

/** The UTF-16 code of every character, and a zero after the last one. */
export function codesOf(text: string): Uint16Array {
  const codes = new Uint16Array(text.length + 1);
  for (let at = 0; at < text.length; at++) codes[at] = text.charCodeAt(at);
  return codes;
}

function positionsOf(text: string, character: string): number[] {
  const positions = [];
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) positions.push(at);
  return positions;
}

const PERCENT = 0x25;

/**
 * The number of characters before each position. RFC 6570 (section 2.4.1) counts the characters of a value before its
 * encoding: `%C3%B6` is one character. An encoded byte from 80 to BF is not the first byte of a character in UTF-8, so it
 * is not counted.
 */
function countCharacters(text: string): Uint32Array {
  const counts = new Uint32Array(text.length + 1);
  let count = 0;
  /** Number of hexadecimal digits of the current encoded byte that are not yet read. */
  let remainingDigits = 0;
  for (let at = 0; at < text.length; at++) {
    counts[at] = count;
    if (remainingDigits > 0) remainingDigits--;
    else if (text.charCodeAt(at) === PERCENT && /^[0-9A-Fa-f]{2}/.test(text.slice(at + 1, at + 3))) {
      remainingDigits = 2;
      if (!/^[89ABab]/.test(text.charAt(at + 1))) count++;
    } else if (!isLowSurrogate(text, at)) count++;
  }
  counts[text.length] = count;
  return counts;
}

const isLowSurrogate = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;

/**
 * The failure table of Knuth-Morris-Pratt: for each prefix of the literal, the length of its longest proper suffix that is
 * also a prefix.
 */
function failureTable(literal: Uint16Array): Uint32Array {
  const failures = new Uint32Array(literal.length);
  for (let at = 1; at < literal.length - 1; at++)
    failures[at + 1] = advance(literal, failures, failures[at]!, literal[at]!);
  return failures;
}

/** The length of the matched prefix of the literal after one more character. */
function advance(literal: Uint16Array, failures: Uint32Array, length: number, code: number): number {
  let matchedLength = length;
  while (matchedLength > 0 && literal[matchedLength] !== code) matchedLength = failures[matchedLength]!;
  return literal[matchedLength] === code ? matchedLength + 1 : matchedLength;
}
