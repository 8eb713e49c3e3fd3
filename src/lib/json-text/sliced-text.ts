import type { Steps } from '../slices/run-sliced.js';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  keyOf,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipOpening,
  skipSpace,
  skipString,
  skipValue,
} from './json-skip.js';
import { JsonText, membersOf, type Member } from './json-text.js';
import { ScannedObject } from './scanned-object.js';

/** Number of characters that are read in one step. A step takes less than a millisecond. */
const STEP_LENGTH = 128 * 1024;

/** `membersOf` in steps, for a text of many megabytes. */
export function* memberSteps(text: string): Steps<readonly Member[]> {
  if (text.length <= STEP_LENGTH) return membersOf(text);
  const members: Member[] = [];
  let stepEnd = STEP_LENGTH;
  let i = skipOpening(text, 0, OPEN_BRACE);
  while (text.charCodeAt(i) !== CLOSE_BRACE) {
    const keyEnd = skipString(text, i);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = yield* valueSteps(text, start);
    members.push({ key: keyOf(text, i, keyEnd), keyStart: i, start, end });
    i = skipSpace(text, end);
    if (text.charCodeAt(i) === COMMA) i = skipSpace(text, i + 1);
    if (i <= stepEnd) continue;
    yield;
    stepEnd = i + STEP_LENGTH;
  }
  return members;
}

/** The same text with the positions of its members. A long text is decoded and its members are found in steps. */
export function* indexed(json: JsonText): Steps<JsonText> {
  if (json instanceof ScannedObject) yield* json.decodeSteps();
  if (json.isIndexed || json.text.length <= STEP_LENGTH || !json.text.startsWith('{')) return json;
  return new JsonText(json.text, undefined, yield* memberSteps(json.text));
}

/** The positions of the elements of the array that begins at `at`. Undefined marks the end of a step. */
export function* elementSteps(
  text: string,
  at = 0,
): Generator<{ readonly start: number; readonly end: number } | undefined, void> {
  let start = skipOpening(text, at, OPEN_BRACKET);
  while (text.charCodeAt(start) !== CLOSE_BRACKET) {
    let end = skipValue(text, start, start + STEP_LENGTH);
    if (end === -1) end = yield* valueSteps(text, start);
    yield { start, end };
    start = skipSpace(text, end);
    if (text.charCodeAt(start) === COMMA) start = skipSpace(text, start + 1);
  }
}

/** The position after the value at `from`. */
function* valueSteps(text: string, from: number): Generator<undefined, number> {
  const short = skipValue(text, from, from + STEP_LENGTH);
  if (short !== -1) return short;
  let depth = 0;
  let stepEnd = from + STEP_LENGTH;
  let i = from;
  for (;;) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = skipString(text, i) - 1;
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) depth++;
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth--;
    i++;
    if (depth === 0) return i;
    if (i <= stepEnd) continue;
    yield;
    stepEnd = i + STEP_LENGTH;
  }
}
