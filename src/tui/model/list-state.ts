import type { ListRow } from './list-row.js';
import { EMPTY_LIST, indexOfKey, knownLength, markStale, rowAt, type PagedList } from './paged-list.js';

/** A list with somebody looking at it. */
export interface ListState {
  readonly paged: PagedList;
  readonly selected: number;
  /** Stays with the row when others come and go above it. */
  readonly selectedKey: string | undefined;
  /** The first row in view. */
  readonly top: number;
  /** Whoever asked for the end is taken there, however many pages that takes. */
  readonly toEnd: boolean;
  /** Changes with the question: an answer to another one is not taken. */
  readonly generation: number;
  /** Changes whenever something changed at the gateway. */
  readonly version: number;
  /** Why it could not be had. Not asked again until something changes. */
  readonly problem: string | undefined;
}

export const INITIAL_LIST: ListState = {
  paged: EMPTY_LIST,
  selected: 0,
  selectedKey: undefined,
  top: 0,
  toEnd: false,
  generation: 0,
  version: 0,
  problem: undefined,
};

/** Another question: everything begins anew. */
export const restarted = ({ generation, version }: ListState): ListState => ({
  ...INITIAL_LIST,
  generation: generation + 1,
  version,
});

/** The same question, whose answer may have changed. */
export const withPagesStale = (list: ListState): ListState => ({
  ...list,
  paged: markStale(list.paged),
  version: list.version + 1,
  problem: undefined,
});

export const selectedRowOf = ({ paged, selected }: ListState): ListRow | undefined => rowAt(paged, selected);

/** Takes new rows, and keeps to the row that was selected. */
export function withRows(list: ListState, paged: PagedList): ListState {
  const last = Math.max(0, knownLength(paged) - 1);
  const found = list.selectedKey === undefined ? undefined : indexOfKey(paged, list.selectedKey);
  const selected = list.toEnd ? last : Math.min(found ?? list.selected, last);
  const toEnd = list.toEnd && paged.rest !== undefined;
  // The row that is looked at stays where it is on the screen.
  const top = list.toEnd
    ? list.top
    : Math.max(0, list.top + (found === undefined ? 0 : selected - list.selected));
  const selectedKey = rowAt(paged, selected)?.key ?? list.selectedKey;
  return { ...list, paged, selected, selectedKey, toEnd, top, problem: undefined };
}

export function withSelectionMoved(list: ListState, by: number): ListState {
  const last = Math.max(0, knownLength(list.paged) - 1);
  const selected = Math.min(last, Math.max(0, list.selected + by));
  // A row that we do not hold any more is known by its place alone.
  return { ...list, selected, selectedKey: rowAt(list.paged, selected)?.key, toEnd: false };
}

export const withSelectionAtEnd = (list: ListState): ListState => ({
  ...withSelectionMoved(list, Infinity),
  toEnd: list.paged.rest !== undefined,
});

/** Scrolled so far that the selected row is in view, and no further. */
export function withSelectionInView(list: ListState, height: number): ListState {
  const lowest = Math.max(0, list.selected - height + 1);
  const highest = Math.min(list.selected, Math.max(0, knownLength(list.paged) - height));
  const top = Math.min(Math.max(list.top, lowest), Math.max(lowest, highest));
  return top === list.top ? list : { ...list, top };
}
