import { printable } from '../client/printable.js';
import { truncateEnd, truncateMiddle, padTextEnd, padTextStart, textWidth } from '../client/terminal-text.js';

type CellStyle = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

export type Paint = (style: CellStyle | undefined, text: string) => string;

export interface TableColumn {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Where the cells may be truncated if the table is too wide. */
  readonly truncate?: 'end' | 'middle';
  /** Whether the column may be left out if truncating is not enough; the last such column goes first. */
  readonly isOptional?: boolean;
}

/** Untrusted text: made printable by tableLines. */
export type TableCell = string | { readonly text: string; readonly style: CellStyle | undefined };

const GAP = '  ';
const MIN_TRUNCATED_WIDTH = 12;

/** Formats aligned columns. `width` is that of the terminal; without it nothing is truncated. */
export function tableLines(
  columns: readonly TableColumn[],
  rows: readonly (readonly TableCell[])[],
  { width = Infinity, paint }: { width?: number | undefined; paint: Paint },
): string[] {
  const texts = rows.map((row) => row.map((cell) => printable(typeof cell === 'string' ? cell : cell.text)));
  const naturalWidths = columns.map(({ title }, at) =>
    texts.reduce((most, row) => Math.max(most, textWidth(row[at] ?? '')), title.length),
  );
  const widths = fitWidths(columns, naturalWidths, width);
  const lastOptional = columns.findLastIndex(({ isOptional }) => isOptional === true);
  if (lastOptional !== -1 && totalWidth(widths) > width) {
    const without = <T>(all: readonly T[]): T[] => all.filter((_, at) => at !== lastOptional);
    return tableLines(without(columns), rows.map(without), { width, paint });
  }
  const line = (cells: readonly string[], styleOf: (at: number) => CellStyle | undefined): string =>
    columns
      .map((column, at) => {
        const text = formatCell(cells[at] ?? '', widths[at]!, column, at === columns.length - 1);
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

function formatCell(text: string, width: number, column: TableColumn, isLast: boolean): string {
  const short = column.truncate === 'middle' ? truncateMiddle(text, width) : truncateEnd(text, width);
  if (column.align === 'right') return padTextStart(short, width);
  return isLast ? short : padTextEnd(short, width);
}

const totalWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1));

/** Narrows the widest truncatable column first. */
function fitWidths(
  columns: readonly TableColumn[],
  naturalWidths: readonly number[],
  width: number,
): number[] {
  const widths = [...naturalWidths];
  for (;;) {
    const excess = totalWidth(widths) - width;
    if (excess <= 0) return widths;
    const candidates = columns
      .map((column, at) => ({
        at,
        canShrink: column.truncate !== undefined && widths[at]! > MIN_TRUNCATED_WIDTH,
      }))
      .filter(({ canShrink }) => canShrink)
      .toSorted((a, b) => widths[b.at]! - widths[a.at]!);
    const [widest, next] = candidates;
    if (!widest) return widths;
    const minimum = next ? Math.max(MIN_TRUNCATED_WIDTH, widths[next.at]!) : MIN_TRUNCATED_WIDTH;
    const step = Math.max(1, Math.min(excess, widths[widest.at]! - minimum));
    widths[widest.at]! -= step;
  }
}
