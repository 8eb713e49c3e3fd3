import type { JsonReader, ReadJson } from '../../lib/json-text/json-reader.js';
import { MAX_EAGER_LENGTH } from '../../lib/json-text/json-text.js';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { InboundGate } from './transport.js';

/** Ends the text of a message and reads it. Undefined when the message is beyond the rate: then it is not parsed. */
export function takeMessage(
  reader: JsonReader,
  inbound: InboundGate | undefined,
  requestId?: RequestId,
): ReadJson | undefined {
  // A long message was scanned while it arrived: to take it costs nothing more.
  if (!inbound?.isOverRate || reader.length > MAX_EAGER_LENGTH) return reader.take();
  const bytes = reader.takeBytes();
  return inbound.admits(bytes.toString(), requestId) ? reader.read(bytes) : undefined;
}
