import {
  codesOf,
  fits,
  lastEnd,
  NO_POSITION,
  type Delimiters,
  type ExpressionMatcher,
  type MatchSubject,
  type Variable,
} from './match-subject.js';

const EQUALS = 0x3d;

interface NamedValuesShape {
  readonly prefix: string;
  /** The character between two pairs, which is one of the delimiters. */
  readonly separator: string;
  readonly delimiters: Delimiters;
}

/** A variable. Its name contains neither a delimiter nor `=`. */
interface NamedVariable {
  /** The character codes of the name. */
  readonly codes: Uint16Array;
  readonly nameLength: number;
  readonly maxValueLength: number;
}

/**
 * Matches pairs of a variable's name and a value, `?name=value&name=value`, or the empty text. As servers do, accepts pairs
 * in every order and repeated pairs. Also accepts a name without `=`, because RFC 6570 writes an empty value after `;` like
 * this.
 */
export class NamedValues implements ExpressionMatcher {
  private readonly prefix: number;
  private readonly separator: number;
  private readonly delimiters: Delimiters;
  private readonly names: readonly NamedVariable[];
  private readonly isLimited: boolean;

  constructor(shape: NamedValuesShape, variables: readonly Variable[]) {
    this.prefix = shape.prefix.charCodeAt(0);
    this.separator = shape.separator.charCodeAt(0);
    this.delimiters = shape.delimiters;
    this.names = namesOf(variables);
    this.isLimited = this.names.some(({ maxValueLength }) => maxValueLength < Infinity);
  }

  /** Goes backwards from delimiter to delimiter, because a pair can begin only after a delimiter. */
  starts(subject: MatchSubject, ends: Uint8Array): Uint8Array {
    const { prefix, separator, delimiters } = this;
    const { codes } = subject;
    const counts = this.isLimited ? subject.counts : undefined;
    const starts = ends.slice();
    const nearest = nearestEnds(ends);
    /** The nearest delimiter after the current position. The end of the subject counts as a delimiter. */
    let delimiter = ends.length - 1;
    /** Whether `endsWell` is true for the position directly after the delimiter. */
    let isFollowedByPair = false;
    /** Whether a pair begins at this position that ends at one of `ends`, alone or together with the pairs after it. */
    const endsWell = (at: number): boolean =>
      this.names.some(({ codes: name, nameLength, maxValueLength }) => {
        if (!isAt(codes, name, nameLength, at)) return false;
        const end = at + nameLength;
        if (ends[end] === 1 || (end === delimiter && isFollowedByPair)) return true;
        if (codes[end] !== EQUALS) return false;
        const nearestEnd = nearest[end + 1]!;
        if (nearestEnd <= delimiter && fits(counts, end + 1, nearestEnd, maxValueLength)) return true;
        return isFollowedByPair && fits(counts, end + 1, delimiter, maxValueLength);
      });
    for (let at = delimiter; at >= 0; at--) {
      const code = codes[at]!;
      if (code !== prefix && !delimiters.has(code)) continue;
      const leadsToPair = (code === prefix || code === separator) && endsWell(at + 1);
      if (code === prefix && leadsToPair) starts[at] = 1;
      if (!delimiters.has(code)) continue;
      delimiter = at;
      isFollowedByPair = leadsToPair;
    }
    return starts;
  }

  farthestEnd(subject: MatchSubject, start: number, ends: Uint8Array): number {
    const { codes } = subject;
    let farthest = ends[start] === 1 ? start : NO_POSITION;
    let at = codes[start] === this.prefix ? start + 1 : NO_POSITION;
    while (at !== NO_POSITION) {
      let next = NO_POSITION;
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

/** The distinct names, each with the largest `maxLength` of the variables with this name. */
function namesOf(variables: readonly Variable[]): NamedVariable[] {
  const longest = new Map<string, number>();
  for (const { name, maxLength } of variables) longest.set(name, Math.max(maxLength, longest.get(name) ?? 0));
  return [...longest].map(([name, maxValueLength]) => ({
    codes: codesOf(name),
    nameLength: name.length,
    maxValueLength,
  }));
}

/** Whether the name is in the subject at this position. */
function isAt(codes: Uint16Array, name: Uint16Array, nameLength: number, at: number): boolean {
  // The loop ends at the end of the subject, because `codes` ends with a zero and no name contains a zero.
  let equalCount = 0;
  while (equalCount < nameLength && codes[at + equalCount] === name[equalCount]) equalCount++;
  return equalCount === nameLength;
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
