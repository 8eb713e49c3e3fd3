import { printable, printableJson, printableLines } from '../../client/printable.js';
import { padTextEnd, textWidth, wrapText } from '../../client/terminal-text.js';
import { NO_HIGHLIGHT, type Highlighter } from './highlight.js';
import { textLine, span, type TextStyle, type TextLine } from './text-line.js';

const LABEL_WIDTH = 12;
/** A longer text is cut. Each text is wrapped again for every frame, so a very long one would take too much time. */
const MAX_TEXT_LENGTH = 20_000;

/** Builds the lines of the details pane. Matches of the search are highlighted everywhere except in labels and headings. */
export class DetailPage {
  readonly lines: TextLine[] = [];

  constructor(
    readonly width: number,
    private readonly highlight: Highlighter = NO_HIGHLIGHT,
  ) {}

  /** Adds a label and its value, on one line if the value fits. Has no effect if there is no value. */
  field(label: string, value: unknown, style: TextStyle = 'plain'): void {
    if (value === undefined || value === null || value === '') return;
    const text =
      typeof value === 'string' ? printable(value.slice(0, MAX_TEXT_LENGTH)) : printableJson(value, 0);
    const room = this.width - LABEL_WIDTH;
    if (textWidth(text) <= room)
      this.lines.push([span(padTextEnd(label, LABEL_WIDTH), 'dim'), ...this.highlight(text, style)]);
    else {
      this.lines.push(textLine(label, 'dim'));
      for (const line of wrapText(text, this.width - 1))
        this.lines.push([span(' '), ...this.highlight(line, style)]);
    }
  }

  heading(text: string): void {
    if (this.lines.length > 0) this.lines.push([]);
    this.lines.push(textLine(text, 'bold'));
  }

  text(text: unknown, style: TextStyle = 'plain'): void {
    if (typeof text !== 'string' || text === '') return;
    for (const line of printableLines(text.slice(0, MAX_TEXT_LENGTH).trimEnd()))
      this.wrappedLine(line, style);
  }

  /** Adds a JSON value. A line that is too long for the pane is wrapped, with a hanging indent of two spaces. */
  json(value: unknown): void {
    for (const line of printableJson(value).split('\n')) {
      const text = line.trimStart();
      const indent = Math.min(line.length - text.length, Math.floor(this.width / 2));
      const hangingIndent = indent + 2;
      for (const [index, part] of wrapText(text, this.width - hangingIndent).entries())
        this.lines.push(this.highlight(' '.repeat(index === 0 ? indent : hangingIndent) + part, 'plain'));
    }
  }

  /** Adds a line of printable text, which is wrapped to the width of the pane. */
  wrappedLine(line: string, style: TextStyle = 'plain'): void {
    for (const part of wrapText(line, this.width)) this.lines.push(this.highlight(part, style));
  }

  add(lines: readonly TextLine[]): void {
    this.lines.push(...lines);
  }
}
