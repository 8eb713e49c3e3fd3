import type { JsonText } from '../lib/json-text/json-text.js';
import { tryParseJson } from '../lib/json-text/json-value.js';
import { ScannedObject } from '../lib/json-text/scanned-object.js';

/**
 * The kind of a result by its `resultType` (revision 2026-07-28). A result without `resultType` is complete. A result of the
 * kind `input_required` must not reach a client of 2025, which would read it as an empty success.
 */
export type ResultKind = 'complete' | 'input_required' | 'unknown';

const KEY = '"resultType"';
/** A longer `resultType` cannot be one of the known values. */
const MAX_TYPE_BYTES = 256;

export function resultKindOf(result: JsonText): ResultKind {
  if (!(result instanceof ScannedObject) && isPlainlyComplete(result.text)) return 'complete';
  const type = resultTypeIn(result);
  const kind = type === undefined ? 'complete' : tryParseJson(type);
  return kind === 'complete' || kind === 'input_required' ? kind : 'unknown';
}

/** The JSON text of `resultType`, or `a long value` if it is longer than any known value. Undefined if the result has none. */
export function resultTypeIn(result: JsonText): string | undefined {
  if (result instanceof ScannedObject && result.bytesOf('resultType') > MAX_TYPE_BYTES) return 'a long value';
  return result.memberText('resultType');
}

/**
 * Whether the text has one `resultType` and its value is `complete`, found without parsing. If it returns false, the result may
 * still be complete: the key may occur in a nested object, or may be written with escapes.
 */
export function isPlainlyComplete(text: string): boolean {
  // Servers usually write it as the first member.
  const keyEnd = (text.startsWith(KEY, 1) ? 1 : text.indexOf(KEY)) + KEY.length;
  return text.startsWith(':"complete"', keyEnd) && !text.includes(KEY, keyEnd) && !text.includes('\\u');
}
