import { SSEClientTransport, SseError } from '@modelcontextprotocol/sdk/client/sse.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { TransportError, type LinkTransport } from '../link/transport.js';

/**
 * The HTTP+SSE transport of revision 2024-11-05, as the SDK implements it. The SDK parses and serialises messages, so
 * payloads keep their meaning but not their bytes. The SDK's event source reconnects by itself, to a new session that
 * was never initialised: here the end of the stream closes the transport.
 */
export class SseTransport extends SSEClientTransport implements LinkTransport {
  override async start(): Promise<void> {
    try {
      await super.start();
    } catch (cause) {
      throw new TransportError('unreachable', `cannot connect: ${sdkMessage(cause)}`, {}, { cause });
    }
    const report = this.onerror;
    this.onerror = (error) => {
      if (!(error instanceof SseError)) return report?.(error);
      report?.(
        new TransportError('broken', `the event stream ended: ${sdkMessage(error)}`, {}, { cause: error }),
      );
      void this.close();
    };
  }

  sendText(text: string): Promise<void> {
    return this.send(JSON.parse(text) as JSONRPCMessage);
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    try {
      await super.send(message);
    } catch (cause) {
      throw new TransportError(
        'broken',
        `the server did not accept a message: ${sdkMessage(cause)}`,
        {},
        { cause },
      );
    }
  }
}

/**
 * The SDK's error message, which clients get to read, without the body of an HTTP error, which may repeat our
 * credentials, and without the address.
 */
const sdkMessage = (error: unknown): string =>
  (error as Error).message.replace(/(\(HTTP \d{3}\)|\bE[A-Z]{4,}\b).*/s, '$1');
