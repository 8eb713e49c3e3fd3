import type { JsonText } from '../lib/json-text/json-text.js';
import { ScannedObject } from '../lib/json-text/scanned-object.js';

/**
 * What `resultType` of a result says (revision 2026-07-28). A result without it is complete. `input_required` must not
 * reach a client of 2025, which reads it as an empty success.
 */
export type ResultKind = 'complete' | 'input_required' | 'unknown';

const KEY = '"resultType"';

export function resultKindOf(result: JsonText): ResultKind {
  if (!(result instanceof ScannedObject) && isPlainlyComplete(result.text)) return 'complete';
  const text = result.memberText('resultType');
  const kind: unknown = text === undefined ? 'complete' : JSON.parse(text);
  return kind === 'complete' || kind === 'input_required' ? kind : 'unknown';
}

/** Whether no other `resultType` occurs in the text, also not in a nested object or with escapes. */
function isPlainlyComplete(text: string): boolean {
  const at = text.indexOf(KEY);
  return (
    text.startsWith(':"complete"', at + KEY.length) && text.lastIndexOf(KEY) === at && !text.includes('\\u')
  );
}
