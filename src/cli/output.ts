import { printable, printableJson, printableLines } from '../client/printable.js';
import { painter, wantsColour, type Paint } from './paint.js';
import { tableLines, type TableCell, type TableColumn } from './table.js';

export type OutputFormat = 'table' | 'json';

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(chunk: string | Uint8Array): unknown;
}

/** What a command says: its answer on stdout, everything else on stderr. */
export class Output {
  readonly paint: Paint;

  constructor(
    readonly format: OutputFormat,
    private readonly stdout: Stream = process.stdout,
    readonly stderr: Stream = process.stderr,
    env: Readonly<Record<string, string | undefined>> = process.env,
  ) {
    this.paint = painter(wantsColour(this.isTerminal, env));
  }

  get isTerminal(): boolean {
    return this.stdout.isTTY === true;
  }

  line(text: string): void {
    this.stdout.write(`${text}\n`);
  }

  json(value: unknown): void {
    this.line(printableJson(value));
  }

  /** On a terminal it is made to fit; elsewhere nothing is cut. Says so when there is nothing. */
  table(columns: readonly TableColumn[], rows: readonly (readonly TableCell[])[], nothing: string): void {
    if (rows.length === 0) {
      this.note(nothing);
      return;
    }
    const width = this.isTerminal ? this.stdout.columns : undefined;
    for (const line of tableLines(columns, rows, { width, paint: this.paint })) this.line(line);
  }

  /** Text from elsewhere: shown on a terminal, handed on byte for byte otherwise. */
  content(text: string): void {
    if (this.isTerminal) for (const line of printableLines(text)) this.line(line);
    else this.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  }

  /** Like content, but nothing at all is added. */
  bytes(bytes: Uint8Array | string): void {
    this.stdout.write(bytes);
  }

  note(text: string): void {
    this.stderr.write(`${printable(text)}\n`);
  }
}
