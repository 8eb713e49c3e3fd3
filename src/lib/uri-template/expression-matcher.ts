import { codesOf, Delimiters, fits, type MatchSubject } from './match-subject.js';

export type Operator = '' | '+' | '#' | '.' | '/' | ';' | '?' | '&';

/** One variable of an expression. `maxLength` is the number in `{name:3}`, in characters before encoding. */
export interface Variable {
  readonly name: string;
  readonly maxLength: number;
  readonly explode: boolean;
}

export interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

/**
 * Matches the text that one expression may expand to. Both methods take one pass over the subject. A set of positions
 * is an array with a byte for each position, 1 for a member.
 */
export interface ExpressionMatcher {
  /** The positions from which the expression can be matched so that it ends at one of `ends`. */
  starts(subject: MatchSubject, ends: Uint8Array): Uint8Array;
  /** The last of `ends` at which a match that begins at `start` can end. `starts` must have returned `start`. */
  farthestEnd(subject: MatchSubject, start: number, ends: Uint8Array): number;
}

const NO_DELIMITERS = new Delimiters('');
/** Clients often leave values unencoded, so a value may have any character that does not end a path segment. */
const SEGMENT = new Delimiters('/?#');
const PARAMETER = new Delimiters('/?#;');
const QUERY = new Delimiters('#');
const QUERY_VALUE = new Delimiters('#&');

const NONE = -1;
const EQUALS = 0x3d;
const UNLIMITED_VALUES = 2 ** 29;
/** Greater than any position and any number of values. */
const UNREACHABLE = 2 ** 30;

/**
 * `mayBeEmpty` says whether `{name}` and `{+name}` match the empty text here. An expression with any other operator always
 * does, because all its variables may be undefined. Values may contain commas, because a list without `*` is joined by
 * commas. With `*`, the names in a URI are keys that the client chooses, so any name matches.
 */
export function matcherOf({ operator, variables }: Expression, mayBeEmpty: boolean): ExpressionMatcher {
  const isExploded = variables.some(({ explode }) => explode);
  const limits = variables.map(({ maxLength }) => maxLength);
  /** Matches all values, and the separators between them, as one value. */
  const oneValue = (delimiters: Delimiters): ExpressionMatcher => {
    const prefix = operator === '+' ? '' : operator;
    const minLength = prefix === '' && !mayBeEmpty ? 1 : 0;
    const maxLength = limits.reduce((sum, limit) => sum + limit, limits.length - 1);
    if (maxLength === Infinity) return new UnlimitedValue(delimiters, prefix, minLength);
    return new ValueList({ delimiters, prefix, separator: '', minLength, maxLength, maxValues: 1 });
  };
  switch (operator) {
    case '':
    case '.':
      return oneValue(SEGMENT);
    case '+':
    case '#':
      return oneValue(NO_DELIMITERS);
    case '/': {
      const maxValues = isExploded ? UNLIMITED_VALUES : variables.length;
      const maxLength = Math.max(...limits);
      return new ValueList({
        delimiters: SEGMENT,
        prefix: '/',
        separator: '/',
        minLength: 0,
        maxLength,
        maxValues,
      });
    }
    case ';':
      if (isExploded) return oneValue(SEGMENT);
      return new NamedValues({ prefix: ';', separator: ';', delimiters: PARAMETER }, variables);
    default:
      if (isExploded) return oneValue(QUERY);
      return new NamedValues({ prefix: operator, separator: '&', delimiters: QUERY_VALUE }, variables);
  }
}

/** One value of any length, the most common expression. Visits delimiters only, not every character. */
class UnlimitedValue implements ExpressionMatcher {
  /** With a prefix, the expression also matches the empty text. */
  constructor(
    private readonly delimiters: Delimiters,
    private readonly prefix: string,
    private readonly minLength: 0 | 1,
  ) {}

  starts(subject: MatchSubject, ends: Uint8Array): Uint8Array {
    const values = this.valueStarts(subject, ends);
    if (this.prefix === '') return values;
    const starts = ends.slice();
    for (const at of subject.positionsOf(this.prefix)) if (values[at + 1] === 1) starts[at] = 1;
    return starts;
  }

  farthestEnd(subject: MatchSubject, start: number, ends: Uint8Array): number {
    if (this.prefix !== '' && subject.text[start] !== this.prefix) return start;
    const from = start + this.prefix.length;
    const delimiter = subject.positionsOf(this.delimiters.characters).find((at) => at >= from);
    return ends.lastIndexOf(1, delimiter ?? ends.length - 1);
  }

  /** Between two delimiters, a value can begin at every position up to the last end. Goes backwards from gap to gap. */
  private valueStarts(subject: MatchSubject, ends: Uint8Array): Uint8Array {
    const starts = new Uint8Array(ends.length);
    const delimiters = subject.positionsOf(this.delimiters.characters);
    let end = ends.length;
    let next = ends.length - 1;
    for (let index = delimiters.length - 1; index >= -1 && end !== -1; index--) {
      if (end > next) end = ends.lastIndexOf(1, next);
      const previous = index === -1 ? -1 : delimiters[index]!;
      if (end > previous) starts.fill(1, previous + 1, end + 1 - this.minLength);
      next = previous;
    }
    return starts;
  }
}

interface ValueListShape {
  readonly delimiters: Delimiters;
  /** Before the first value, or empty. With a prefix, the expression also matches the empty text. */
  readonly prefix: string;
  /** Between two values: one of the delimiters, or empty. */
  readonly separator: string;
  /** Limits on the length of one value. */
  readonly minLength: 0 | 1;
  readonly maxLength: number;
  readonly maxValues: number;
}

/** A limited number of values of limited length: `/value/value`. */
class ValueList implements ExpressionMatcher {
  private readonly prefix: number;
  private readonly separator: number;

  constructor(private readonly shape: ValueListShape) {
    this.prefix = shape.prefix === '' ? NONE : shape.prefix.charCodeAt(0);
    this.separator = shape.separator === '' ? NONE : shape.separator.charCodeAt(0);
  }

  /** Goes backwards and computes for each position how many values are needed to reach an end. */
  starts(subject: MatchSubject, ends: Uint8Array): Uint8Array {
    const { prefix, separator } = this;
    const { delimiters, minLength, maxLength, maxValues } = this.shape;
    const { codes } = subject;
    const counts = maxLength === Infinity ? undefined : subject.counts;
    const starts = new Uint8Array(ends.length);
    /** The nearest delimiter at or after `at`, and the number of values needed from the position after it. */
    let delimiter = ends.length - 1;
    let neededAfterDelimiter = UNREACHABLE;
    /** The nearest end at or after `at`. */
    let nearestEnd = UNREACHABLE;
    /** The number of values needed from `at`. */
    let needed = UNREACHABLE;
    for (let at = delimiter; at >= 0; at--) {
      const code = codes[at]!;
      const neededFromNext = needed;
      if (delimiters.has(code)) {
        delimiter = at;
        neededAfterDelimiter = code === separator ? neededFromNext : UNREACHABLE;
      }
      const nextEnd = nearestEnd;
      if (ends[at] === 1) nearestEnd = at;
      const end = minLength === 0 ? nearestEnd : nextEnd;
      if (end <= delimiter && fits(counts, at, end, maxLength)) needed = 1;
      else if (neededAfterDelimiter < UNREACHABLE && fits(counts, at, delimiter, maxLength))
        needed = neededAfterDelimiter + 1;
      else needed = UNREACHABLE;
      if (prefix === NONE) starts[at] = needed <= maxValues ? 1 : 0;
      else starts[at] = code === prefix && neededFromNext <= maxValues ? 1 : ends[at]!;
    }
    return starts;
  }

  farthestEnd(subject: MatchSubject, start: number, ends: Uint8Array): number {
    const { codes } = subject;
    const { delimiters, minLength, maxLength, maxValues } = this.shape;
    let farthest = this.prefix !== NONE && ends[start] === 1 ? start : NONE;
    if (this.prefix !== NONE && codes[start] !== this.prefix) return farthest;
    let from = this.prefix === NONE ? start : start + 1;
    for (let value = 1; ; value++) {
      const end = subject.valueEnd(from, delimiters, maxLength);
      farthest = Math.max(farthest, lastEnd(ends, from + minLength, end));
      if (value === maxValues || codes[end] !== this.separator) return farthest;
      from = end + 1;
    }
  }
}

interface NamedValuesShape {
  readonly prefix: string;
  /** Between two pairs: one of the delimiters. */
  readonly separator: string;
  readonly delimiters: Delimiters;
}

/** The name of a variable. It contains neither a delimiter nor `=`. */
interface ValueName {
  readonly codes: Uint16Array;
  readonly nameLength: number;
  readonly maxValueLength: number;
}

/**
 * Pairs of the name of a variable and a value, `?name=value&name=value`, or the empty text. Accepts pairs in any order
 * and repeated pairs, as servers do, and a name without `=`, which is how RFC 6570 writes an empty value after `;`.
 */
class NamedValues implements ExpressionMatcher {
  private readonly prefix: number;
  private readonly separator: number;
  private readonly delimiters: Delimiters;
  private readonly names: readonly ValueName[];
  private readonly isLimited: boolean;

  constructor(shape: NamedValuesShape, variables: readonly Variable[]) {
    this.prefix = shape.prefix.charCodeAt(0);
    this.separator = shape.separator.charCodeAt(0);
    this.delimiters = shape.delimiters;
    this.names = namesOf(variables);
    this.isLimited = this.names.some(({ maxValueLength }) => maxValueLength < Infinity);
  }

  /** Goes backwards from delimiter to delimiter, because a pair can begin only after one. */
  starts(subject: MatchSubject, ends: Uint8Array): Uint8Array {
    const { prefix, separator, delimiters } = this;
    const { codes } = subject;
    const counts = this.isLimited ? subject.counts : undefined;
    const starts = ends.slice();
    const nearest = nearestEnds(ends);
    /** The nearest delimiter after the position, and whether it is a separator before a pair that reaches an end. */
    let delimiter = ends.length - 1;
    let isFollowedByPair = false;
    /** Whether a pair begins here that reaches an end, directly or through the pairs after the next separator. */
    const isPair = (at: number): boolean =>
      this.names.some(({ codes: name, nameLength, maxValueLength }) => {
        if (!isAt(codes, name, nameLength, at)) return false;
        const end = at + nameLength;
        if (ends[end] === 1 || (end === delimiter && isFollowedByPair)) return true;
        if (codes[end] !== EQUALS) return false;
        const near = nearest[end + 1]!;
        if (near <= delimiter && fits(counts, end + 1, near, maxValueLength)) return true;
        return isFollowedByPair && fits(counts, end + 1, delimiter, maxValueLength);
      });
    for (let at = delimiter; at >= 0; at--) {
      const code = codes[at]!;
      if (code !== prefix && !delimiters.has(code)) continue;
      const leadsToPair = (code === prefix || code === separator) && isPair(at + 1);
      if (code === prefix && leadsToPair) starts[at] = 1;
      if (!delimiters.has(code)) continue;
      delimiter = at;
      isFollowedByPair = leadsToPair;
    }
    return starts;
  }

  farthestEnd(subject: MatchSubject, start: number, ends: Uint8Array): number {
    const { codes } = subject;
    let farthest = ends[start] === 1 ? start : NONE;
    let at = codes[start] === this.prefix ? start + 1 : NONE;
    while (at !== NONE) {
      let next = NONE;
      for (const { codes: name, nameLength, maxValueLength } of this.names) {
        if (!isAt(codes, name, nameLength, at)) continue;
        const nameEnd = at + nameLength;
        const hasValue = codes[nameEnd] === EQUALS;
        const end = hasValue ? subject.valueEnd(nameEnd + 1, this.delimiters, maxValueLength) : nameEnd;
        farthest = Math.max(farthest, lastEnd(ends, nameEnd, end));
        if (codes[end] === this.separator) next = end + 1;
      }
      at = next;
    }
    return farthest;
  }
}

/** Each name once, with the largest `maxLength` of the variables of that name. */
function namesOf(variables: readonly Variable[]): ValueName[] {
  const longest = new Map<string, number>();
  for (const { name, maxLength } of variables) longest.set(name, Math.max(maxLength, longest.get(name) ?? 0));
  return [...longest].map(([name, maxValueLength]) => ({
    codes: codesOf(name),
    nameLength: name.length,
    maxValueLength,
  }));
}

function isAt(codes: Uint16Array, name: Uint16Array, length: number, at: number): boolean {
  // `codes` ends with a zero, which no name contains, so the loop does not read past it.
  let read = 0;
  while (read < length && codes[at + read] === name[read]) read++;
  return read === length;
}

/** The nearest end at or after each position. */
function nearestEnds(ends: Uint8Array): Uint32Array {
  const nearest = new Uint32Array(ends.length);
  let end = ends.length;
  for (let at = ends.length - 1; at >= 0; at--) {
    if (ends[at] === 1) end = at;
    nearest[at] = end;
  }
  return nearest;
}

/** The last of `ends` from `from` to `to`, both included, or -1. */
function lastEnd(ends: Uint8Array, from: number, to: number): number {
  let at = to;
  while (at >= from && ends[at] !== 1) at--;
  return at >= from ? at : NONE;
}
