import type { MemoryLimit } from '../../core/memory-limits.js';
import { JsonScanner } from '../../lib/json-text/json-scanner.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { ScannedObject } from '../../lib/json-text/scanned-object.js';
import { TransportError } from './transport.js';

/** Maximum size of a result. Limited, because its instructions may be long and stay in memory as long as the link. */
export const MAX_RESULT_BYTES = 1_048_576;
/**
 * Maximum members and elements of a result. Limited, because a result is parsed in one step, without a pause for other work: a
 * million bytes of small values take more than 100 ms.
 */
export const MAX_RESULT_MEMBERS = 10_000;

/** No result reaches this depth: `SERVER_JSON_LIMITS` allowed fewer levels when the message was read. */
const MAX_DEPTH = 1024;

/** Called when a result is refused because it is too long or has too many members. */
export type OnMemoryLimit = (limit: MemoryLimit) => void;

/** Parses the result of `initialize` or `server/discover`. Throws if it is too long or has too many members. */
export function readHandshakeResult(result: JsonText, method: string, onLimit?: OnMemoryLimit): unknown {
  const tooLarge = (problem: string): TransportError => {
    onLimit?.('handshake-result');
    return new TransportError('too-large', `the result of ${method} ${problem}`);
  };
  const bytes = result instanceof ScannedObject ? result.bytes : Buffer.from(result.text);
  if (bytes.length > MAX_RESULT_BYTES) throw tooLarge(`is over ${MAX_RESULT_BYTES} bytes`);
  const scanner = new JsonScanner({ maxDepth: MAX_DEPTH, maxMembers: MAX_RESULT_MEMBERS });
  scanner.push(bytes);
  if (scanner.exceeded) throw tooLarge(`has more than ${MAX_RESULT_MEMBERS} members and elements`);
  return JSON.parse(result.text);
}
