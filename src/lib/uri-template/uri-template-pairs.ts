import type { Variable } from './uri-template-parser.js';
import {
  codesOf,
  fits,
  lastEnd,
  valueEnd,
  type Span,
  type Stops,
  type Subject,
} from './uri-template-span.js';

export interface PairsShape {
  readonly first: string;
  /** What stands between two pairs. It is one of `stops`. */
  readonly separator: string;
  readonly stops: Stops;
}

/** The name of a variable, in which there is no stop and no `=`; `most` is how long its value may be. */
interface Name {
  readonly codes: Uint16Array;
  readonly length: number;
  readonly most: number;
}

const NONE = -1;
const EQUALS = 0x3d;

/**
 * Names of the template with values, `?name=value&name=value`, or nothing at all. In any order and as often as the
 * client likes, since no server cares; and without a value, which is how RFC 6570 writes an empty one after `;`.
 */
export class Pairs implements Span {
  private readonly first: number;
  private readonly separator: number;
  private readonly stops: Stops;
  private readonly names: readonly Name[];
  private readonly isLimited: boolean;

  constructor(shape: PairsShape, variables: readonly Variable[]) {
    this.first = shape.first.charCodeAt(0);
    this.separator = shape.separator.charCodeAt(0);
    this.stops = shape.stops;
    this.names = namesOf(variables);
    this.isLimited = this.names.some(({ most }) => most < Infinity);
  }

  /** Goes backwards, from one separator to the one before it. */
  starts(subject: Subject, ends: Uint8Array): Uint8Array {
    const { first, separator, stops } = this;
    const { codes } = subject;
    const counts = this.isLimited ? subject.counts : undefined;
    const starts = ends.slice();
    const nearest = nearestEnds(ends);
    let stop = ends.length - 1;
    let isFollowed = false;
    /** Whether a pair begins here that ends at an end, or at a separator with more pairs that do. */
    const isPair = (at: number): boolean =>
      this.names.some(({ codes: name, length, most }) => {
        if (!standsAt(codes, name, length, at)) return false;
        const end = at + length;
        if (ends[end] === 1 || (end === stop && isFollowed)) return true;
        if (codes[end] !== EQUALS) return false;
        const near = nearest[end + 1]!;
        if (near <= stop && fits(counts, end + 1, near, most)) return true;
        return isFollowed && fits(counts, end + 1, stop, most);
      });
    for (let at = stop; at >= 0; at--) {
      const code = codes[at]!;
      if (code !== first && !stops.has(code)) continue;
      const leads = (code === first || code === separator) && isPair(at + 1);
      if (code === first && leads) starts[at] = 1;
      if (!stops.has(code)) continue;
      stop = at;
      isFollowed = leads;
    }
    return starts;
  }

  farthest(subject: Subject, start: number, ends: Uint8Array): number {
    const { codes } = subject;
    let farthest = ends[start] === 1 ? start : NONE;
    let at = codes[start] === this.first ? start + 1 : NONE;
    while (at !== NONE) {
      let next = NONE;
      for (const { codes: name, length, most } of this.names) {
        if (!standsAt(codes, name, length, at)) continue;
        const nameEnd = at + length;
        const hasValue = codes[nameEnd] === EQUALS;
        const end = hasValue ? valueEnd(subject, nameEnd + 1, this.stops, most) : nameEnd;
        farthest = Math.max(farthest, lastEnd(ends, nameEnd, end));
        if (codes[end] === this.separator) next = end + 1;
      }
      at = next;
    }
    return farthest;
  }
}

/** Each name once, with the longest value that one of its variables takes. */
function namesOf(variables: readonly Variable[]): Name[] {
  const longest = new Map<string, number>();
  for (const { name, most } of variables) longest.set(name, Math.max(most, longest.get(name) ?? 0));
  return [...longest].map(([name, most]) => ({ codes: codesOf(name), length: name.length, most }));
}

function standsAt(codes: Uint16Array, name: Uint16Array, length: number, at: number): boolean {
  // The zero after the last character is in no name, so that this never reads past it.
  let read = 0;
  while (read < length && codes[at + read] === name[read]) read++;
  return read === length;
}

/** The nearest end at or after each place. */
function nearestEnds(ends: Uint8Array): Uint32Array {
  const nearest = new Uint32Array(ends.length);
  let end = ends.length;
  for (let at = ends.length - 1; at >= 0; at--) {
    if (ends[at] === 1) end = at;
    nearest[at] = end;
  }
  return nearest;
}
