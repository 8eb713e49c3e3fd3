import type { Span, Stops, Subject } from './uri-template-span.js';

/** One value of any length, which is what most expressions are. Goes from stop to stop, not over every character. */
export class Run implements Span {
  /** `first` stands before the value; where it does not stand, there may be nothing at all. */
  constructor(
    private readonly stops: Stops,
    private readonly first: string,
    private readonly least: 0 | 1,
  ) {}

  starts(subject: Subject, ends: Uint8Array): Uint8Array {
    const values = this.valueStarts(subject, ends);
    if (this.first === '') return values;
    const starts = ends.slice();
    for (const place of subject.placesOf(this.first)) if (values[place + 1] === 1) starts[place] = 1;
    return starts;
  }

  farthest(subject: Subject, start: number, ends: Uint8Array): number {
    if (this.first !== '' && subject.text[start] !== this.first) return start;
    const from = start + this.first.length;
    const stop = subject.placesOf(this.stops.characters).find((place) => place >= from);
    return ends.lastIndexOf(1, stop ?? ends.length - 1);
  }

  /** Between two stops, a value can begin wherever an end follows. */
  private valueStarts(subject: Subject, ends: Uint8Array): Uint8Array {
    const starts = new Uint8Array(ends.length);
    const places = subject.placesOf(this.stops.characters);
    let end = ends.length;
    let stop = ends.length - 1;
    for (let index = places.length - 1; index >= -1 && end !== -1; index--) {
      if (end > stop) end = ends.lastIndexOf(1, stop);
      const before = index === -1 ? -1 : places[index]!;
      if (end > before) starts.fill(1, before + 1, end + 1 - this.least);
      stop = before;
    }
    return starts;
  }
}
