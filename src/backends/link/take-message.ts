import type { JsonReader, ReadJson } from '../../lib/json-text/json-reader.js';
import { MAX_EAGER_LENGTH } from '../../lib/json-text/json-text.js';
import type { InboundGate } from './transport.js';

/** Ends the text of a message and reads it. Undefined when the message is beyond the rate: then it is not parsed. */
export function takeMessage(reader: JsonReader, inbound: InboundGate | undefined): ReadJson | undefined {
  // A long message was scanned while it arrived: to take it costs nothing more.
  if (!inbound?.isOverRate || reader.length > MAX_EAGER_LENGTH) return reader.take();
  const bytes = reader.takeBytes();
  return inbound.admits(bytes.toString()) ? reader.read(bytes) : undefined;
}
