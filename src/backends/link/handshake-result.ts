import { JsonScanner } from '../../lib/json-text/json-scanner.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { ScannedObject } from '../../lib/json-text/scanned-object.js';
import { TransportError } from './transport.js';

/** Limited, because instructions may be long and are kept as long as the link. */
export const MAX_RESULT_BYTES = 1_048_576;
/** Limited, because the result is parsed at once: for a million bytes of small values that takes more than 100 ms. */
export const MAX_RESULT_MEMBERS = 10_000;

/** Never reached: when the message was read, fewer levels were allowed (`SERVER_JSON_LIMITS`). */
const MAX_DEPTH = 1024;

/** The parsed result of `initialize` or `server/discover`. Rejects one that is too long, before it is decoded. */
export function readHandshakeResult(result: JsonText, method: string): unknown {
  if (!result.isLongObject) return result.value;
  const bytes = result instanceof ScannedObject ? result.bytes : Buffer.from(result.text);
  if (bytes.length > MAX_RESULT_BYTES)
    throw tooLarge(`the result of ${method} is over ${MAX_RESULT_BYTES} bytes`);
  const scanner = new JsonScanner({ maxDepth: MAX_DEPTH, maxMembers: MAX_RESULT_MEMBERS });
  scanner.push(bytes);
  if (scanner.exceeded)
    throw tooLarge(`the result of ${method} has more than ${MAX_RESULT_MEMBERS} members and elements`);
  return JSON.parse(result.text);
}

const tooLarge = (problem: string): TransportError => new TransportError('too-large', problem);
