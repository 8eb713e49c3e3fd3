import type { Steps } from '../slices/run-sliced.js';
import { editedText, movedPositions, type JsonEdit } from './json-edits.js';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  isKey,
  keyOf,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipComma,
  skipOpening,
  skipString,
  skipValue,
  startOfValue,
} from './json-skip.js';
import { JsonText, membersOf, SharedJson, type Member } from './json-text.js';
import { encodeSteps, oneLineSteps, ScannedObject } from './scanned-object.js';

/** Number of characters that are read in one step. A step takes less than a millisecond. */
const STEP_LENGTH = 128 * 1024;

/** `membersOf` in steps, for a text of many megabytes. */
export function* memberSteps(text: string): Steps<readonly Member[]> {
  if (text.length <= STEP_LENGTH) return membersOf(text);
  return yield* collectMembers(text, 0, (start, end) => keyOf(text, start, end));
}

/**
 * The members with one of these keys in the object that begins at `at`, found in steps. Other members are left out,
 * because there may be a million.
 */
export const namedMemberSteps = (text: string, keys: readonly string[], at = 0): Steps<Member[]> =>
  collectMembers(text, at, (start, end) => keys.find((key) => isKey(text, start, end, key)));

/** The members for which `keyAt` returns a key. The arguments of `keyAt` are the start and end of the key in the text. */
function* collectMembers(
  text: string,
  at: number,
  keyAt: (start: number, end: number) => string | undefined,
): Steps<Member[]> {
  const members: Member[] = [];
  let stepEnd = at + STEP_LENGTH;
  let keyStart = skipOpening(text, at, OPEN_BRACE);
  while (text.charCodeAt(keyStart) !== CLOSE_BRACE) {
    const keyEnd = skipString(text, keyStart);
    const start = startOfValue(text, keyEnd);
    let end = skipValue(text, start, start + STEP_LENGTH);
    if (end === -1) end = yield* valueSteps(text, start);
    const key = keyAt(keyStart, keyEnd);
    if (key !== undefined) members.push({ key, keyStart, start, end });
    keyStart = skipComma(text, end);
    if (keyStart <= stepEnd) continue;
    yield;
    stepEnd = keyStart + STEP_LENGTH;
  }
  return members;
}

/** Returns the same text with the positions of its members. A long text is decoded and its members are found in steps. */
export function* indexed(json: JsonText): Steps<JsonText> {
  if (json instanceof ScannedObject) yield* json.decodeSteps();
  if (json.isIndexed || json.text.length <= STEP_LENGTH || !json.text.startsWith('{')) return json;
  return new JsonText(json.text, undefined, yield* memberSteps(json.text));
}

/** The start (inclusive) and end (exclusive) of a value in a text. */
export interface JsonRange {
  readonly start: number;
  readonly end: number;
}

/** The text of an object in which values can be found and replaced. */
export interface EditableJson {
  /** For a `ScannedObject`, its `byteText`, which is not decoded. */
  readonly text: string;
  /** The members of the object, with their positions in `text`. */
  readonly members: readonly Member[];
  /** The decoded text from one position of `text` to another. */
  decode(start: number, end: number): string;
  /** Applies edits of `text` in steps. Returns the changed object. */
  edited(edits: readonly JsonEdit[]): Steps<JsonText>;
}

/** Prepares an object for edits. Its members are found in steps. */
export function* editableJson(json: JsonText): Steps<EditableJson> {
  if (json instanceof ScannedObject) {
    return {
      text: json.byteText,
      members: json.byteMembers,
      decode: (start, end) => json.decode(start, end),
      edited: (edits) => json.edited(edits),
    };
  }
  const { text, members } = yield* indexed(json);
  return {
    text,
    members,
    decode: (start, end) => text.slice(start, end),
    edited: (edits) => editedObject(text, members, edits),
  };
}

/** The text as bytes on one line, encoded in steps. */
export function* lineSteps(json: JsonText): Steps<Buffer> {
  const bytes = json instanceof SharedJson ? json.bytes : yield* encodeSteps(json.text);
  return yield* oneLineSteps(bytes);
}

/** If an object has more characters after its edits, `editedObject` encodes it in steps. */
const MAX_UNSLICED_LENGTH = 262_144;

/** The object after edits of its text, with the new positions of its members. */
function* editedObject(
  text: string,
  members: readonly Member[],
  edits: readonly JsonEdit[],
): Steps<JsonText> {
  // Three positions for each member.
  const positions = members.flatMap(({ keyStart, start, end }) => [keyStart, start, end]);
  const moved = yield* movedPositions(
    positions,
    edits,
    ({ start, end, text: replacement }) => replacement.length - (end - start),
  );
  const movedMembers = members.map(({ key }, index) => {
    const [keyStart, start, end] = moved.slice(3 * index, 3 * index + 3) as [number, number, number];
    return { key, keyStart, start, end };
  });
  const changed = yield* editedText(text, edits);
  if (changed.length <= MAX_UNSLICED_LENGTH) return new JsonText(changed, undefined, movedMembers);
  return new SharedJson(changed, movedMembers, yield* encodeSteps(changed));
}

/** The positions of the elements of the array that begins at `at`. Yields undefined at the end of a step. */
export function* elementSteps(text: string, at = 0): Generator<JsonRange | undefined, void> {
  let start = skipOpening(text, at, OPEN_BRACKET);
  while (text.charCodeAt(start) !== CLOSE_BRACKET) {
    let end = skipValue(text, start, start + STEP_LENGTH);
    if (end === -1) end = yield* valueSteps(text, start);
    yield { start, end };
    start = skipComma(text, end);
  }
}

/** The position after the array or object at `from`, which is longer than a step. */
function* valueSteps(text: string, from: number): Generator<undefined, number> {
  let depth = 0;
  let stepEnd = from + STEP_LENGTH;
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = skipString(text, at) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    at++;
    if (depth === 0) return at;
    if (at <= stepEnd) continue;
    yield;
    stepEnd = at + STEP_LENGTH;
  }
}
