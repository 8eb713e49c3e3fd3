import { printable, printableJson, printableLines } from '../../client/printable.js';
import { padEnd, widthOf, wrap } from '../../client/text-width.js';
import { UNMARKED, type Mark } from './marking.js';
import { lineOf, span, type Look, type TextLine } from './text-line.js';

const LABEL = 12;
/** Longer descriptions are cut: nobody reads them in a side panel, and wrapping them takes time. */
const LONGEST_TEXT = 20_000;

/** Lines of the side panel, as wide as it is. What somebody looked for is marked in them, but for the labels. */
export class DetailPage {
  readonly lines: TextLine[] = [];

  constructor(
    readonly width: number,
    private readonly mark: Mark = UNMARKED,
  ) {}

  /** A name and its value, beside each other where the value is short. */
  fact(label: string, value: unknown, look: Look = 'plain'): void {
    if (value === undefined || value === null || value === '') return;
    const text =
      typeof value === 'string' ? printable(value.slice(0, LONGEST_TEXT)) : printableJson(value, 0);
    const beside = this.width - LABEL;
    if (widthOf(text) <= beside)
      this.lines.push([span(padEnd(label, LABEL), 'dim'), ...this.mark(text, look)]);
    else {
      this.lines.push(lineOf(label, 'dim'));
      for (const line of wrap(text, this.width - 1)) this.lines.push([span(' '), ...this.mark(line, look)]);
    }
  }

  heading(text: string): void {
    if (this.lines.length > 0) this.lines.push([]);
    this.lines.push(lineOf(text, 'bold'));
  }

  text(text: unknown, look: Look = 'plain'): void {
    if (typeof text !== 'string' || text === '') return;
    for (const line of printableLines(text.slice(0, LONGEST_TEXT).trimEnd())) this.wrapped(line, look);
  }

  json(value: unknown): void {
    for (const line of printableJson(value).split('\n')) {
      const text = line.trimStart();
      const indent = Math.min(line.length - text.length, Math.floor(this.width / 2));
      for (const [at, part] of wrap(text, this.width - indent - 2).entries())
        this.lines.push(this.mark(' '.repeat(at === 0 ? indent : indent + 2) + part, 'plain'));
    }
  }

  /** A line that is printable already. */
  wrapped(line: string, look: Look = 'plain'): void {
    for (const part of wrap(line, this.width)) this.lines.push(this.mark(part, look));
  }

  add(lines: readonly TextLine[]): void {
    this.lines.push(...lines);
  }
}
