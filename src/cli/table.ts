import { printable } from '../client/printable.js';
import { truncateEnd, truncateMiddle, padTextEnd, padTextStart, textWidth } from '../client/terminal-text.js';

type CellStyle = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

export type Paint = (style: CellStyle | undefined, text: string) => string;

export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Where a cell may be truncated if the table is too wide. Without this, the cells are not truncated. */
  readonly truncate?: 'end' | 'middle';
  /** Whether the column is left out if truncation does not make the table fit. The last optional column is left out first. */
  readonly isOptional?: boolean;
}

/** Untrusted text, which `tableLines` makes printable. */
export type TableCell = string | { readonly text: string; readonly style: CellStyle | undefined };

const GAP = '  ';
const MIN_TRUNCATED_WIDTH = 12;

/** Formats a table. `width` is the width of the terminal. Without it, nothing is truncated. */
export function tableLines(
  columns: readonly TableColumn[],
  rows: readonly (readonly TableCell[])[],
  { width = Infinity, paint }: { width?: number | undefined; paint: Paint },
): string[] {
  const texts = rows.map((row) => row.map((cell) => printable(typeof cell === 'string' ? cell : cell.text)));
  const naturalWidths = columns.map(({ title }, index) =>
    texts.reduce((maximum, row) => Math.max(maximum, textWidth(row[index] ?? '')), title.length),
  );
  const widths = fitWidths(columns, naturalWidths, width);
  const lastOptional = columns.findLastIndex(({ isOptional }) => isOptional === true);
  if (lastOptional !== -1 && totalWidth(widths) > width) {
    const withoutLastOptional = <T>(all: readonly T[]): T[] =>
      all.filter((_, index) => index !== lastOptional);
    return tableLines(withoutLastOptional(columns), rows.map(withoutLastOptional), { width, paint });
  }
  const line = (cells: readonly string[], styleOf: (index: number) => CellStyle | undefined): string =>
    columns
      .map((column, index) => {
        const text = formatCell(cells[index] ?? '', widths[index]!, column, index === columns.length - 1);
        return paint(styleOf(index), text);
      })
      .join(GAP)
      .trimEnd();
  return [
    line(
      columns.map(({ title }) => title),
      () => 'bold',
    ),
    ...texts.map((cells, row) =>
      line(cells, (index) => {
        const cell = rows[row]![index];
        return typeof cell === 'object' ? cell.style : undefined;
      }),
    ),
  ];
}

function formatCell(text: string, width: number, column: TableColumn, isLast: boolean): string {
  const short = column.truncate === 'middle' ? truncateMiddle(text, width) : truncateEnd(text, width);
  if (column.align === 'right') return padTextStart(short, width);
  return isLast ? short : padTextEnd(short, width);
}

const totalWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));

/**
 * Returns column widths with which the table fits into `width`, if possible. While the table is too wide, the widest column
 * that may be truncated is narrowed, first to the width of the second widest, but never below MIN_TRUNCATED_WIDTH.
 */
function fitWidths(
  columns: readonly TableColumn[],
  naturalWidths: readonly number[],
  width: number,
): number[] {
  const widths = [...naturalWidths];
  for (;;) {
    const excess = totalWidth(widths) - width;
    if (excess <= 0) return widths;
    const [widest, second] = [...columns.keys()]
      .filter((index) => columns[index]!.truncate !== undefined && widths[index]! > MIN_TRUNCATED_WIDTH)
      .toSorted((a, b) => widths[b]! - widths[a]!);
    if (widest === undefined) return widths;
    const minimum = second === undefined ? MIN_TRUNCATED_WIDTH : widths[second]!;
    const step = Math.max(1, Math.min(excess, widths[widest]! - minimum));
    widths[widest]! -= step;
  }
}
