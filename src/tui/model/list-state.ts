import type { ListRow } from './list-row.js';
import { EMPTY_LIST, rowIndexOf, knownLength, markStale, rowAt, type PagedList } from './paged-list.js';

/** A list with its selection and scroll position. */
export interface ListState {
  readonly paged: PagedList;
  readonly selected: number;
  /** Key of the selected row, so that it stays selected when rows above it are added or removed. */
  readonly selectedKey: string | undefined;
  /** Index of the first visible row. */
  readonly top: number;
  /**
   * Whether the user went to the end and the remaining pages are being loaded. While they are, the last loaded row is
   * selected.
   */
  readonly isLoadingToEnd: boolean;
  /** Increases when search or filter change. Responses to requests of an earlier generation are dropped. */
  readonly generation: number;
  /** Increases when the list changes at the gateway. */
  readonly version: number;
  /** Why loading has failed. The list is not requested again until it becomes stale, or until search or filter change. */
  readonly problem: string | undefined;
}

export const INITIAL_LIST: ListState = {
  paged: EMPTY_LIST,
  selected: 0,
  selectedKey: undefined,
  top: 0,
  isLoadingToEnd: false,
  generation: 0,
  version: 0,
  problem: undefined,
};

/** The list after a change of search or filter. It is loaded from the start. */
export const withListReset = ({ generation, version }: ListState): ListState => ({
  ...INITIAL_LIST,
  generation: generation + 1,
  version,
});

/** The list after a change at the gateway. The old pages stay visible until they are loaded again. */
export const withPagesStale = (list: ListState): ListState => ({
  ...list,
  paged: markStale(list.paged),
  version: list.version + 1,
  problem: undefined,
});

export const selectedRowOf = ({ paged, selected }: ListState): ListRow | undefined => rowAt(paged, selected);

/** Replaces the rows and keeps the selected row selected. */
export function withRows(list: ListState, paged: PagedList): ListState {
  const last = Math.max(0, knownLength(paged) - 1);
  const newIndex = list.selectedKey === undefined ? undefined : rowIndexOf(paged, list.selectedKey);
  const selected = list.isLoadingToEnd ? last : Math.min(newIndex ?? list.selected, last);
  const isLoadingToEnd = list.isLoadingToEnd && paged.rest !== undefined;
  // Scrolls with the selected row, so that it keeps its place on the screen.
  const movedBy = newIndex === undefined || list.isLoadingToEnd ? 0 : selected - list.selected;
  const top = Math.max(0, list.top + movedBy);
  const selectedKey = rowAt(paged, selected)?.key ?? list.selectedKey;
  return { ...list, paged, selected, selectedKey, isLoadingToEnd, top, problem: undefined };
}

export function withSelectionMoved(list: ListState, by: number): ListState {
  const last = Math.max(0, knownLength(list.paged) - 1);
  const selected = Math.min(last, Math.max(0, list.selected + by));
  // If the page of the row was evicted, the key of the row is not known, only its index.
  return { ...list, selected, selectedKey: rowAt(list.paged, selected)?.key, isLoadingToEnd: false };
}

export const withSelectionAtEnd = (list: ListState): ListState => ({
  ...withSelectionMoved(list, Infinity),
  isLoadingToEnd: list.paged.rest !== undefined,
});

/**
 * Scrolls as little as possible, so that the selected row is visible and there is no free space below the end of the list.
 */
export function withSelectionInView(list: ListState, height: number): ListState {
  const minTop = Math.max(0, list.selected - height + 1);
  const maxTop = Math.min(list.selected, Math.max(0, knownLength(list.paged) - height));
  const top = Math.min(Math.max(list.top, minTop), Math.max(minTop, maxTop));
  return top === list.top ? list : { ...list, top };
}
