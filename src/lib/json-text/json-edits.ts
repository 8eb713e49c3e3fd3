import type { Steps } from '../slices/run-sliced.js';

/** A part of a text to be replaced. The edits of one text are sorted by position and do not overlap. */
export interface JsonEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Number of edits that are applied in one step, which takes less than a millisecond. */
export const EDITS_PER_STEP = 512;

/** The text with the edits, applied in steps. */
export function* editedText(text: string, edits: readonly JsonEdit[]): Steps<string> {
  const pieces: string[] = [];
  let parts: string[] = [];
  let copied = 0;
  for (const { start, end, text: replacement } of edits) {
    parts.push(text.slice(copied, start), replacement);
    copied = end;
    if (parts.length < 2 * EDITS_PER_STEP) continue;
    pieces.push(parts.join(''));
    parts = [];
    yield;
  }
  pieces.push(...parts, text.slice(copied));
  return pieces.join('');
}

/**
 * The given positions, which ascend, as they are after the edits. `growthOf` returns how much longer an edit makes the text.
 * No position is inside an edit.
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
