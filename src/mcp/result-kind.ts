import type { JsonText } from '../lib/json-text/json-text.js';
import { tryParseJson, type JsonObject } from '../lib/json-text/json-value.js';
import { ScannedObject } from '../lib/json-text/scanned-object.js';

/**
 * The kind of a result by its `resultType` (revision 2026-07-28). A result without `resultType` is complete. A result of the
 * kind `input_required` must not reach a client of 2025, which would read it as an empty success.
 */
export type ResultKind = 'complete' | 'input_required' | 'unknown';

const KEY = 'resultType';
/** A longer `resultType` cannot be one of the known values. */
const MAX_TYPE_BYTES = 256;

export function resultKindOf(result: JsonText): ResultKind {
  const type = parsedResultType(result);
  if (type === undefined || type === 'complete') return 'complete';
  return type === 'input_required' ? type : 'unknown';
}

/** The parsed `resultType`. Undefined if the result has none, and null if it is longer than any known value. */
export function parsedResultType(result: JsonText): unknown {
  if (!result.mayHaveMember(KEY)) return undefined;
  if (result.isParsed) return (result.value as JsonObject)[KEY];
  const text = resultTypeIn(result);
  return text === undefined ? undefined : (tryParseJson(text) ?? null);
}

/** The JSON text of `resultType`, or `a long value` if it is longer than any known value. Undefined if the result has none. */
export function resultTypeIn(result: JsonText): string | undefined {
  if (result instanceof ScannedObject && result.bytesOf(KEY) > MAX_TYPE_BYTES) return 'a long value';
  return result.memberText(KEY);
}
