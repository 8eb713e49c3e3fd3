import type { JsonText } from '../lib/json-text/json-text.js';
import { tryParseJson } from '../lib/json-text/json-value.js';
import { ScannedObject } from '../lib/json-text/scanned-object.js';

/**
 * What `resultType` of a result says (revision 2026-07-28). A result without it is complete. `input_required` must not
 * reach a client of 2025, which reads it as an empty success.
 */
export type ResultKind = 'complete' | 'input_required' | 'unknown';

const KEY = '"resultType"';
/** A longer value is none of the known ones. */
const MAX_TYPE_BYTES = 256;

export function resultKindOf(result: JsonText): ResultKind {
  if (!(result instanceof ScannedObject) && isPlainlyComplete(result.text)) return 'complete';
  const type = resultTypeIn(result);
  const kind = type === undefined ? 'complete' : tryParseJson(type);
  return kind === 'complete' || kind === 'input_required' ? kind : 'unknown';
}

/** The JSON text of `resultType`, which is not read if it is long; undefined if there is none. */
export function resultTypeIn(result: JsonText): string | undefined {
  if (result instanceof ScannedObject && result.bytesOf('resultType') > MAX_TYPE_BYTES) return 'a long value';
  return result.memberText('resultType');
}

/** Whether no other `resultType` occurs in the text, also not in a nested object or with escapes. */
export function isPlainlyComplete(text: string): boolean {
  const at = text.indexOf(KEY);
  return (
    text.startsWith(':"complete"', at + KEY.length) && text.lastIndexOf(KEY) === at && !text.includes('\\u')
  );
}
