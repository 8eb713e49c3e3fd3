import { styleText } from 'node:util';
import { printable, printableJson, printableLines } from '../client/printable.js';
import { tableLines, type Paint, type TableCell, type TableColumn } from './table.js';

export type OutputFormat = 'table' | 'json';

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(chunk: string | Uint8Array): unknown;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Writes the result of a command to stdout and everything else to stderr. */
export class Output {
  readonly paint: Paint;

  constructor(
    readonly format: OutputFormat,
    private readonly stdout: Stream = process.stdout,
    readonly stderr: Stream = process.stderr,
    env: Environment = process.env,
  ) {
    this.paint = painter(usesColour(this.isTerminal, env));
  }

  get isTerminal(): boolean {
    return this.stdout.isTTY === true;
  }

  /** The text must be printable already. */
  line(text: string): void {
    this.stdout.write(`${text}\n`);
  }

  json(value: unknown): void {
    this.line(printableJson(value));
  }

  /** Fits the table to the width of a terminal; truncates nothing elsewhere. Without rows, stderr gets `emptyText`. */
  table(columns: readonly TableColumn[], rows: readonly (readonly TableCell[])[], emptyText: string): void {
    if (rows.length === 0) {
      this.note(emptyText);
      return;
    }
    const width = this.isTerminal ? this.stdout.columns : undefined;
    for (const line of tableLines(columns, rows, { width, paint: this.paint })) this.line(line);
  }

  /** Untrusted text: made printable on a terminal, written unchanged elsewhere. Ends with a line feed. */
  content(text: string): void {
    if (this.isTerminal) for (const line of printableLines(text)) this.line(line);
    else this.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  }

  /** Writes exactly these bytes. */
  bytes(bytes: Uint8Array | string): void {
    this.stdout.write(bytes);
  }

  note(text: string): void {
    this.stderr.write(`${printable(text)}\n`);
  }
}

/** As no-color.org and force-color.org define it; NO_COLOR wins, which is not so in styleText. */
export function usesColour(isTerminal: boolean, env: Environment): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  return isTerminal && env['TERM'] !== 'dumb';
}

/** Whether to colour is decided above, for the stream and the environment that the caller passed. */
export const painter =
  (isColoured: boolean): Paint =>
  (style, text) =>
    isColoured && style !== undefined && text !== ''
      ? styleText(style, text, { validateStream: false })
      : text;
