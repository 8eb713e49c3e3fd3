import {
  Delimiters,
  fits,
  lastEnd,
  NO_POSITION,
  type ExpressionMatcher,
  type MatchSubject,
  type Variable,
} from './match-subject.js';
import { NamedValues } from './named-values.js';

export type Operator = '' | '+' | '#' | '.' | '/' | ';' | '?' | '&';

export interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

const NO_DELIMITERS = new Delimiters('');
/** Clients often leave values unencoded, so a value in a path may contain any character that does not end the segment. */
const SEGMENT = new Delimiters('/?#');
const PARAMETER = new Delimiters('/?#;');
const QUERY = new Delimiters('#');
const QUERY_VALUE = new Delimiters('#&');

const UNLIMITED_VALUES = 2 ** 29;
/** Greater than every position and every number of values. */
const UNREACHABLE = 2 ** 30;
/** Used if there is no prefix or separator. No character has this code. */
const NO_CODE = -1;

/**
 * Returns the matcher of an expression. `mayBeEmpty` says whether `{name}` and `{+name}` match the empty text at their
 * place. An expression with another operator always matches the empty text, because all its variables may be undefined.
 * Values may contain commas, because a list without `*` is joined by commas. With `*`, the names in a URI are keys that the
 * client chooses, so every name matches.
 */
export function matcherOf({ operator, variables }: Expression, mayBeEmpty: boolean): ExpressionMatcher {
  const isExploded = variables.some(({ explode }) => explode);
  const limits = variables.map(({ maxLength }) => maxLength);
  /** Matches all values, and the separators between them, as one value. */
  const oneValue = (delimiters: Delimiters): ExpressionMatcher => {
    // The text that an expression produces begins with its operator, unless that is `+`.
    const prefix = operator === '+' ? '' : operator;
    const minLength = prefix === '' && !mayBeEmpty ? 1 : 0;
    const separatorCount = limits.length - 1;
    const maxLength = limits.reduce((sum, limit) => sum + limit, separatorCount);
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

/** Matches one value of any length, the most common expression. Visits only the delimiters instead of every character. */
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

  /**
   * The positions at which a value that ends at one of `ends` can begin. Between two delimiters, these are all positions up
   * to the last end there. Goes backwards through the delimiters.
   */
  private valueStarts(subject: MatchSubject, ends: Uint8Array): Uint8Array {
    const starts = new Uint8Array(ends.length);
    const delimiters = subject.positionsOf(this.delimiters.characters);
    let end = ends.length;
    let nextDelimiter = ends.length - 1;
    for (let index = delimiters.length - 1; index >= -1 && end !== NO_POSITION; index--) {
      if (end > nextDelimiter) end = ends.lastIndexOf(1, nextDelimiter);
      const previousDelimiter = index === -1 ? -1 : delimiters[index]!;
      if (end > previousDelimiter) starts.fill(1, previousDelimiter + 1, end + 1 - this.minLength);
      nextDelimiter = previousDelimiter;
    }
    return starts;
  }
}

interface ValueListShape {
  readonly delimiters: Delimiters;
  /** The character before the first value, or an empty text. With a prefix, the expression also matches the empty text. */
  readonly prefix: string;
  /** The character between two values, which is one of the delimiters, or an empty text. */
  readonly separator: string;
  /** Limits on the length of one value. */
  readonly minLength: 0 | 1;
  readonly maxLength: number;
  readonly maxValues: number;
}

/** Matches a limited number of values of limited length: `/value/value`. */
class ValueList implements ExpressionMatcher {
  /** Character codes, or `NO_CODE`. */
  private readonly prefix: number;
  private readonly separator: number;

  constructor(private readonly shape: ValueListShape) {
    this.prefix = shape.prefix === '' ? NO_CODE : shape.prefix.charCodeAt(0);
    this.separator = shape.separator === '' ? NO_CODE : shape.separator.charCodeAt(0);
  }

  /** Goes backwards and computes for each position how many values are needed from there to reach one of `ends`. */
  starts(subject: MatchSubject, ends: Uint8Array): Uint8Array {
    const { prefix, separator } = this;
    const { delimiters, minLength, maxLength, maxValues } = this.shape;
    const { codes } = subject;
    const counts = maxLength === Infinity ? undefined : subject.counts;
    const starts = new Uint8Array(ends.length);
    /** The nearest delimiter at or after `at`. The end of the subject counts as one. */
    let delimiter = ends.length - 1;
    /** The number of values needed from the position after the delimiter, if the delimiter is the separator. */
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
      const endAfterAt = nearestEnd;
      if (ends[at] === 1) nearestEnd = at;
      const end = minLength === 0 ? nearestEnd : endAfterAt;
      // One value suffices if `end` is not after the delimiter. Otherwise the value has to extend to the delimiter, which has
      // to be a separator.
      if (end <= delimiter && fits(counts, at, end, maxLength)) needed = 1;
      else if (neededAfterDelimiter < UNREACHABLE && fits(counts, at, delimiter, maxLength))
        needed = neededAfterDelimiter + 1;
      else needed = UNREACHABLE;
      if (prefix === NO_CODE) starts[at] = needed <= maxValues ? 1 : 0;
      else starts[at] = code === prefix && neededFromNext <= maxValues ? 1 : ends[at]!;
    }
    return starts;
  }

  farthestEnd(subject: MatchSubject, start: number, ends: Uint8Array): number {
    const { codes } = subject;
    const { delimiters, minLength, maxLength, maxValues } = this.shape;
    const hasPrefix = this.prefix !== NO_CODE;
    let farthest = hasPrefix && ends[start] === 1 ? start : NO_POSITION;
    if (hasPrefix && codes[start] !== this.prefix) return farthest;
    let from = hasPrefix ? start + 1 : start;
    for (let value = 1; ; value++) {
      const end = subject.valueEnd(from, delimiters, maxLength);
      farthest = Math.max(farthest, lastEnd(ends, from + minLength, end));
      if (value === maxValues || codes[end] !== this.separator) return farthest;
      from = end + 1;
    }
  }
}
