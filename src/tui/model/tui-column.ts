import type { ListRow } from './list-row.js';
import type { Model } from './model.js';
import type { TextStyle } from './text-line.js';

export interface TuiColumn {
  readonly title: string;
  /** A fixed width, or a share of the width that the fixed columns leave. */
  readonly width: number | { readonly share: number };
  /** In a narrower list, the column is not shown. */
  readonly minListWidth?: number;
  readonly align?: 'right';
  readonly truncate?: 'middle';
  readonly text: (row: ListRow, model: Model) => string;
  readonly style?: (row: ListRow) => TextStyle;
}
