import type { ListRow } from './list-row.js';
import type { Model } from './model.js';
import type { TextStyle } from './text-line.js';

export interface TuiColumn {
  readonly title: string;
  /** Fixed width, or share of the width that fixed columns leave. */
  readonly width: number | { readonly share: number };
  /** Minimum width of the list for this column to be shown. */
  readonly minListWidth?: number;
  readonly align?: 'right';
  readonly truncate?: 'middle';
  readonly text: (row: ListRow, model: Model) => string;
  readonly style?: (row: ListRow) => TextStyle;
}
