import { fits, lastEnd, valueEnd, type Span, type Stops, type Subject } from './uri-template-span.js';

export interface ValuesShape {
  readonly stops: Stops;
  /** What stands before the first value. Where it does not stand, there may be nothing at all. */
  readonly first: string;
  /** What stands between two values. It is one of the stops. */
  readonly separator: string;
  readonly least: 0 | 1;
  /** Characters of one value. */
  readonly most: number;
  readonly values: number;
}

const NONE = -1;
/** Farther than any place and more than any number of values. */
const NEVER = 2 ** 30;

/** A number of values, each of a number of characters: `/value/value`. */
export class Values implements Span {
  private readonly first: number;
  private readonly separator: number;

  constructor(private readonly shape: ValuesShape) {
    this.first = shape.first === '' ? NONE : shape.first.charCodeAt(0);
    this.separator = shape.separator === '' ? NONE : shape.separator.charCodeAt(0);
  }

  /** Goes backwards, and knows of each place how many values it takes from there to the nearest end. */
  starts(subject: Subject, ends: Uint8Array): Uint8Array {
    const { first, separator } = this;
    const { stops, least, most, values } = this.shape;
    const { codes } = subject;
    const counts = most === Infinity ? undefined : subject.counts;
    const starts = new Uint8Array(ends.length);
    let stop = ends.length - 1;
    let fromStop = NEVER;
    let nearest = NEVER;
    let needed = NEVER;
    for (let at = stop; at >= 0; at--) {
      const code = codes[at]!;
      const neededAfter = needed;
      if (stops.has(code)) {
        stop = at;
        fromStop = code === separator ? neededAfter : NEVER;
      }
      const farther = nearest;
      if (ends[at] === 1) nearest = at;
      const end = least === 0 ? nearest : farther;
      if (end <= stop && fits(counts, at, end, most)) needed = 1;
      else needed = fromStop < NEVER && fits(counts, at, stop, most) ? fromStop + 1 : NEVER;
      if (first === NONE) starts[at] = needed <= values ? 1 : 0;
      else starts[at] = code === first && neededAfter <= values ? 1 : ends[at]!;
    }
    return starts;
  }

  farthest(subject: Subject, start: number, ends: Uint8Array): number {
    const { codes } = subject;
    const { stops, least, most, values } = this.shape;
    let farthest = this.first !== NONE && ends[start] === 1 ? start : NONE;
    if (this.first !== NONE && codes[start] !== this.first) return farthest;
    let from = this.first === NONE ? start : start + 1;
    for (let value = 1; ; value++) {
      const end = valueEnd(subject, from, stops, most);
      farthest = Math.max(farthest, lastEnd(ends, from + least, end));
      if (value === values || codes[end] !== this.separator) return farthest;
      from = end + 1;
    }
  }
}
