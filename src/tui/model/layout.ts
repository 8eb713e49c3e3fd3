import { knownLength } from './paged-list.js';
import { currentPanel, panelDefinition, type Model } from './model.js';

/** Below this size only a message is shown. */
export const MIN_SIZE = { columns: 60, rows: 16 };

/** Header, tabs, notice line and key line. */
const FRAME_ROWS = 4;
/** Title and column headings of a list. */
const HEAD_ROWS = 2;
const MIN_SECOND_ROWS = 2;

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
  const body = rows - FRAME_ROWS;
  const detailColumns = model.details.isOpen ? Math.min(72, Math.floor(columns * 0.5)) : 0;
  const { second } = panelDefinition(model.panel);
  const secondRows = second ? secondListRows(model, body - 2 * HEAD_ROWS) : 0;
  return {
    columns,
    rows,
    listColumns: columns - detailColumns,
    detailColumns,
    mainRows: Math.max(1, body - HEAD_ROWS - (second ? secondRows + 1 : 0)),
    secondRows,
    detailRows: Math.max(1, body - 1),
  };
}

/** The second list gets the rows it needs, up to a third of the room, or half if it has the focus. */
function secondListRows(model: Model, room: number): number {
  const { second } = panelDefinition(model.panel);
  const length = second ? knownLength(model.lists[second.list].paged) : 0;
  const maximum = Math.floor(room / (currentPanel(model).section === 'second' ? 2 : 3));
  return Math.min(Math.max(1, length), Math.max(MIN_SECOND_ROWS, maximum));
}

/** Rows inside the frame of the help dialog. */
export const helpRows = ({ size }: Model): number => size.rows - FRAME_ROWS - 2;
