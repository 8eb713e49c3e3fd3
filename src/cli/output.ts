import { styleText } from 'node:util';
import { printable, printableJson, printableLines } from '../client/printable.js';
import type { Environment } from '../config/source/interpolate.js';
import { tableLines, type Paint, type TableCell, type TableColumn } from './table.js';

export type OutputFormat = 'table' | 'json';

/** Writes the result of a command to stdout and everything else to stderr. */
export class Output {
  readonly isTerminal = process.stdout.isTTY;
  readonly paint = painter(usesColour(this.isTerminal, process.env));

  constructor(readonly format: OutputFormat) {}

  /** Writes a line. The text must be printable: see `printable`. */
  line(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  json(value: unknown): void {
    this.line(printableJson(value));
  }

  /**
   * Writes a table. On a terminal it is truncated to the width of the terminal. If there are no rows, writes `emptyText` to
   * stderr.
   */
  table(columns: readonly TableColumn[], rows: readonly (readonly TableCell[])[], emptyText: string): void {
    if (rows.length === 0) {
      this.note(emptyText);
      return;
    }
    const width = this.isTerminal ? process.stdout.columns : undefined;
    for (const line of tableLines(columns, rows, { width, paint: this.paint })) this.line(line);
  }

  /**
   * Writes untrusted text and a final line feed. The text is made printable on a terminal and is unchanged in a file or
   * pipe.
   */
  content(text: string): void {
    if (this.isTerminal) for (const line of printableLines(text)) this.line(line);
    else process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  }

  /** Writes exactly these bytes. */
  bytes(bytes: Uint8Array | string): void {
    process.stdout.write(bytes);
  }

  /** Writes a line to stderr. */
  note(text: string): void {
    process.stderr.write(`${printable(text)}\n`);
  }
}

/** Follows no-color.org and force-color.org. NO_COLOR takes precedence over FORCE_COLOR, unlike in styleText. */
export function usesColour(isTerminal: boolean, env: Environment): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  return isTerminal && env['TERM'] !== 'dumb';
}

/**
 * Returns a function that applies a style if `isColoured`. `styleText` does not check the stream, because
 * `usesColour` has checked it.
 */
export const painter =
  (isColoured: boolean): Paint =>
  (style, text) =>
    isColoured && style !== undefined && text !== ''
      ? styleText(style, text, { validateStream: false })
      : text;
