import { knownLength } from './paged-list.js';
import { currentPanel, panelDefinition, type Model } from './model.js';

/** On a smaller terminal, only a message is shown. */
export const MIN_SIZE = { columns: 60, rows: 16 };

/** Header, tabs, notice line and key line. */
export const FRAME_ROWS = 4;
/** Title and column headings of a list. */
const HEAD_ROWS = 2;
/** Title of the second list, which has no column headings. */
const SECOND_HEAD_ROWS = 1;
const MIN_SECOND_ROWS = 2;
const MAX_DETAIL_COLUMNS = 72;
/** Upper and lower border of a dialog. */
const DIALOG_BORDER_ROWS = 2;

export interface Layout {
  readonly columns: number;
  readonly rows: number;
  readonly listColumns: number;
  readonly detailColumns: number;
  /** Rows of the list, without title and headings. */
  readonly mainRows: number;
  readonly secondRows: number;
  /** Rows of text in the details pane. */
  readonly detailRows: number;
}

export function computeLayout(model: Model): Layout {
  const { columns, rows } = model.size;
  const bodyRows = rows - FRAME_ROWS;
  const detailColumns = model.details.isOpen ? Math.min(MAX_DETAIL_COLUMNS, Math.floor(columns / 2)) : 0;
  const { second } = panelDefinition(model.panel);
  const secondRows = second ? secondListRows(model, bodyRows - 2 * HEAD_ROWS) : 0;
  return {
    columns,
    rows,
    listColumns: columns - detailColumns,
    detailColumns,
    mainRows: Math.max(1, bodyRows - HEAD_ROWS - (second ? SECOND_HEAD_ROWS + secondRows : 0)),
    secondRows,
    // The pane has one row for its title.
    detailRows: Math.max(1, bodyRows - 1),
  };
}

/** Rows of the second list: as many as it needs, but at most a third of `room`, or half of `room` if it is the current list. */
function secondListRows(model: Model, room: number): number {
  const { second } = panelDefinition(model.panel);
  const length = second ? knownLength(model.lists[second.list].paged) : 0;
  const isCurrent = currentPanel(model).section === 'second';
  const maximum = Math.floor(room / (isCurrent ? 2 : 3));
  return Math.min(Math.max(1, length), Math.max(MIN_SECOND_ROWS, maximum));
}

/** Number of lines that the help dialog shows. */
export const helpRows = ({ size }: Model): number => size.rows - FRAME_ROWS - DIALOG_BORDER_ROWS;
