import type { JsonReader, ReadJson } from '../../lib/json-text/json-reader.js';
import { MAX_EAGER_LENGTH } from '../../lib/json-text/json-text.js';
import type { InboundGate } from './transport.js';

/** Reads the message whose bytes the reader has collected. Returns undefined, without parsing, if it is beyond the rate. */
export function takeMessage(reader: JsonReader, inbound: InboundGate | undefined): ReadJson | undefined {
  // A long message was scanned while it arrived, so that reading it now costs little.
  if (!inbound?.isOverRate || reader.length > MAX_EAGER_LENGTH) return reader.take();
  const bytes = reader.takeBytes();
  return inbound.admits(bytes.toString()) ? reader.read(bytes) : undefined;
}
