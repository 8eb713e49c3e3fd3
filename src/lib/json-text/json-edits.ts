import type { Steps } from '../slices/run-sliced.js';

/** Replaces the part of a text from `start` to `end`. The edits of one text are sorted by position and do not overlap. */
export interface JsonEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Number of edits that are applied in one step, which takes less than a millisecond. */
export const EDITS_PER_STEP = 512;

/** The text after the edits, which are applied in steps. */
export function* editedText(text: string, edits: readonly JsonEdit[]): Steps<string> {
  const finished: string[] = [];
  /** For each edit of the current step: the unchanged text since the previous edit, and the replacement. */
  let stepParts: string[] = [];
  let copiedTo = 0;
  for (const { start, end, text: replacement } of edits) {
    stepParts.push(text.slice(copiedTo, start), replacement);
    copiedTo = end;
    if (stepParts.length < 2 * EDITS_PER_STEP) continue;
    finished.push(stepParts.join(''));
    stepParts = [];
    yield;
  }
  finished.push(...stepParts, text.slice(copiedTo));
  return finished.join('');
}

/**
 * Returns where the given positions of a text are after the edits. The positions ascend, and none is inside an edit.
 * `growthOf` returns by how much an edit makes the text longer.
 */
export function* movedPositions(
  positions: readonly number[],
  edits: readonly JsonEdit[],
  growthOf: (edit: JsonEdit) => number,
): Steps<number[]> {
  const moved: number[] = [];
  let index = 0;
  let growth = 0;
  for (const position of positions) {
    for (; index < edits.length && edits[index]!.end <= position; index++) {
      growth += growthOf(edits[index]!);
      if (index % EDITS_PER_STEP === EDITS_PER_STEP - 1) yield;
    }
    moved.push(position + growth);
  }
  return moved;
}
