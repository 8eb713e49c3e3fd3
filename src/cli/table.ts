import { printable } from '../client/printable.js';
import { truncateEnd, truncateMiddle, padTextEnd, padTextStart, textWidth } from '../client/terminal-text.js';
import type { Paint, Style } from './paint.js';

export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Gives way when the table is too wide: at its end, or in the middle as a URI does. */
  readonly truncate?: 'end' | 'middle';
  /** Left out where even that does not help. */
  readonly isOptional?: boolean;
}

/** A cell is text as it came from anywhere. */
export type TableCell = string | { readonly text: string; readonly style: Style | undefined };

const GAP = '  ';
const NARROWEST = 12;

/** Lines that stand under one another. `width` is that of the terminal; without one nothing is cut. */
export function tableLines(
  columns: readonly TableColumn[],
  rows: readonly (readonly TableCell[])[],
  { width = Infinity, paint }: { width?: number | undefined; paint: Paint },
): string[] {
  const texts = rows.map((row) => row.map((cell) => printable(typeof cell === 'string' ? cell : cell.text)));
  const wanted = columns.map(({ title }, at) =>
    texts.reduce((most, row) => Math.max(most, textWidth(row[at] ?? '')), title.length),
  );
  const widths = fitting(columns, wanted, width);
  const spare = columns.findLastIndex(({ isOptional }) => isOptional === true);
  if (spare !== -1 && wholeWidth(widths) > width) {
    const without = <T>(all: readonly T[]): T[] => all.filter((_, at) => at !== spare);
    return tableLines(without(columns), rows.map(without), { width, paint });
  }
  const line = (cells: readonly string[], styleOf: (at: number) => Style | undefined): string =>
    columns
      .map((column, at) => {
        const text = placed(cells[at] ?? '', widths[at]!, column, at === columns.length - 1);
        return paint(styleOf(at), text);
      })
      .join(GAP)
      .trimEnd();
  return [
    line(
      columns.map(({ title }) => title),
      () => 'bold',
    ),
    ...texts.map((cells, row) =>
      line(cells, (at) => {
        const cell = rows[row]![at];
        return typeof cell === 'object' ? cell.style : undefined;
      }),
    ),
  ];
}

function placed(text: string, width: number, column: TableColumn, isLast: boolean): string {
  const short = column.truncate === 'middle' ? truncateMiddle(text, width) : truncateEnd(text, width);
  if (column.align === 'right') return padTextStart(short, width);
  return isLast ? short : padTextEnd(short, width);
}

const wholeWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1));

/** The widest of those that can give way gives way first. */
function fitting(columns: readonly TableColumn[], wanted: readonly number[], width: number): number[] {
  const widths = [...wanted];
  for (;;) {
    const excess = wholeWidth(widths) - width;
    if (excess <= 0) return widths;
    const givers = columns
      .map((column, at) => ({ at, shrinks: column.truncate !== undefined && widths[at]! > NARROWEST }))
      .filter(({ shrinks }) => shrinks)
      .toSorted((a, b) => widths[b.at]! - widths[a.at]!);
    const [widest, next] = givers;
    if (!widest) return widths;
    const floor = next ? Math.max(NARROWEST, widths[next.at]!) : NARROWEST;
    const step = Math.max(1, Math.min(excess, widths[widest.at]! - floor));
    widths[widest.at]! -= step;
  }
}
