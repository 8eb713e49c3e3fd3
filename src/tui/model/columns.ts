import { printable } from '../../client/printable.js';
import { truncateEnd, truncateMiddle, padTextEnd, padTextStart } from '../../client/terminal-text.js';
import { COLUMNS } from './list-columns.js';
import type { ListRow, ListId } from './list-row.js';
import { NO_HIGHLIGHT, type Highlighter } from './highlight.js';
import type { Model } from './model.js';
import { span, type TextLine } from './text-line.js';
import type { TuiColumn } from './tui-column.js';

/** Width of the space between two columns. */
const GAP = 1;

/** A column with the width that it has in a list. */
interface PlacedColumn {
  readonly column: TuiColumn;
  readonly width: number;
}

/** The columns that are shown in a list of this width, with their widths. */
export function placeColumns(list: ListId, listWidth: number): readonly PlacedColumn[] {
  const columns = COLUMNS[list].filter(({ minListWidth = 0 }) => listWidth >= minListWidth);
  const fixedWidth = columns.reduce((sum, { width }) => sum + (typeof width === 'number' ? width : 0), 0);
  // A column takes its share of the width that is still free, not of the whole, so that rounding leaves no free width.
  let freeWidth = listWidth - fixedWidth - GAP * (columns.length - 1);
  let freeShares = columns.reduce((sum, { width }) => sum + (typeof width === 'number' ? 0 : width.share), 0);
  return columns.map((column) => {
    if (typeof column.width === 'number') return { column, width: column.width };
    const width = Math.floor((freeWidth * column.width.share) / freeShares);
    freeWidth -= width;
    freeShares -= column.width.share;
    return { column, width: Math.max(0, width) };
  });
}

/** The line with the titles of the columns. */
export const headerLine = (placed: readonly PlacedColumn[]): string =>
  placed
    .map(({ column, width }) => padCell(truncateEnd(column.title, width), width, column))
    .join(' '.repeat(GAP));

/** One row of a list with highlighted matches. */
export function rowLine(
  row: ListRow,
  placed: readonly PlacedColumn[],
  highlight: Highlighter,
  model: Model,
): TextLine {
  const cells = placed.map(({ column, width }) => {
    const shown = printable(column.text(row, model).slice(0, MAX_CELL_LENGTH));
    const short = column.truncate === 'middle' ? truncateMiddle(shown, width) : truncateEnd(shown, width);
    return highlight(padCell(short, width, column), column.style?.(row) ?? 'plain');
  });
  // If the row matches only in a text that is not shown, such as its description, its first cell is highlighted.
  const isHiddenMatch = highlight !== NO_HIGHLIGHT && !cells.flat().some(({ style }) => style === 'match');
  return cells.flatMap((cell, at) => {
    if (at > 0) return [span(' '.repeat(GAP)), ...cell];
    return isHiddenMatch ? cell.map(({ text: piece }) => span(piece, 'accent')) : cell;
  });
}

/** A longer text is cut before it is formatted, to limit the work. The limit is larger than the width of a screen. */
const MAX_CELL_LENGTH = 2000;

const padCell = (shown: string, width: number, { align }: TuiColumn): string =>
  align === 'right' ? padTextStart(shown, width) : padTextEnd(shown, width);
