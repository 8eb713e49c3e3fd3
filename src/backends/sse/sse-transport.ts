import { SSEClientTransport, SseError } from '@modelcontextprotocol/sdk/client/sse.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { TransportError, type LinkTransport } from '../link/transport.js';

/**
 * The HTTP+SSE transport of revision 2024-11-05, as the SDK implements it. The SDK parses and serialises messages, so
 * payloads keep their meaning but not their bytes. The SDK's event source would reconnect to a new session that was never
 * initialised. Therefore this transport closes when the stream ends.
 */
export class SseTransport extends SSEClientTransport implements LinkTransport {
  override async start(): Promise<void> {
    try {
      await super.start();
    } catch (cause) {
      throw new TransportError('unreachable', `cannot connect: ${sdkMessage(cause)}`, {}, { cause });
    }
    const reportError = this.onerror;
    this.onerror = (error) => {
      if (!(error instanceof SseError)) return reportError?.(error);
      reportError?.(
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
 * The message of an SDK error, cut off before the address and before the body of an HTTP error. Clients see the message,
 * and the body may repeat the configured credentials.
 */
const sdkMessage = (error: unknown): string =>
  (error as Error).message.replace(/(\(HTTP \d{3}\)|\bE[A-Z]{4,}\b).*/s, '$1');
