import { printable } from '../../client/printable.js';
import { truncateEnd, truncateMiddle, padTextEnd, padTextStart } from '../../client/terminal-text.js';
import { COLUMNS } from './list-columns.js';
import type { ListRow, ListId } from './list-row.js';
import { NO_HIGHLIGHT, type Highlighter } from './highlight.js';
import type { Model } from './model.js';
import { span, type TextLine } from './text-line.js';
import type { TuiColumn } from './tui-column.js';

const GAP = 1;

interface PlacedColumn {
  readonly column: TuiColumn;
  readonly width: number;
}

/** The columns that fit into a list of this width, and their widths. */
export function placeColumns(list: ListId, width: number): readonly PlacedColumn[] {
  const shown = COLUMNS[list].filter(({ minListWidth = 0 }) => width >= minListWidth);
  const fixed = shown.reduce((sum, { width: wanted }) => sum + (typeof wanted === 'number' ? wanted : 0), 0);
  const shares = shown.reduce(
    (sum, { width: wanted }) => sum + (typeof wanted === 'number' ? 0 : wanted.share),
    0,
  );
  let freeWidth = width - fixed - GAP * (shown.length - 1);
  let freeShares = shares;
  return shown.map((column) => {
    if (typeof column.width === 'number') return { column, width: column.width };
    const shared = Math.floor((freeWidth * column.width.share) / freeShares);
    freeWidth -= shared;
    freeShares -= column.width.share;
    return { column, width: Math.max(0, shared) };
  });
}

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
  // A row that matches only in a part that is not shown, such as the description, is highlighted as a whole.
  const isHiddenMatch = highlight !== NO_HIGHLIGHT && !cells.flat().some(({ style }) => style === 'match');
  return cells.flatMap((cell, at) => {
    if (at > 0) return [span(' '.repeat(GAP)), ...cell];
    return isHiddenMatch ? cell.map(({ text: piece }) => span(piece, 'accent')) : cell;
  });
}

/** Wider than any screen: bounds the work for very long texts. */
const MAX_CELL_LENGTH = 2000;

const padCell = (shown: string, width: number, { align }: TuiColumn): string =>
  align === 'right' ? padTextStart(shown, width) : padTextEnd(shown, width);
