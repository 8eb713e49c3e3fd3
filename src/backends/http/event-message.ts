import { JsonReader, type ReadJson } from '../../lib/json-text/json-reader.js';
import type { EventData } from '../../lib/sse/sse-parser.js';
import { SERVER_JSON_LIMITS } from '../../mcp/json-limits.js';
import { takeMessage } from '../link/take-message.js';
import type { GetClient } from './get-stream.js';

/** Reads the message in the data of an event. The message is undefined when it exceeds the rate limit of the link. */
export class EventMessage implements EventData<ReadJson | undefined> {
  private readonly reader: JsonReader;

  constructor(private readonly client: GetClient) {
    this.reader = new JsonReader({ ...SERVER_JSON_LIMITS, maxBytes: client.maxMessageBytes });
  }

  get length(): number {
    return this.reader.length;
  }

  append(bytes: Buffer): boolean {
    return this.reader.append(bytes);
  }

  take(): ReadJson | undefined {
    return takeMessage(this.reader, this.client.inbound);
  }

  /** Ends the event without reading its data as JSON. */
  takeText(): string {
    return this.reader.takeBytes().toString();
  }
}
