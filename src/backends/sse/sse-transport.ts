import { SSEClientTransport, SseError } from '@modelcontextprotocol/sdk/client/sse.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { TransportError, type LinkTransport } from '../link/transport.js';

/**
 * The old transport with two endpoints, as the SDK has it. It parses on its own, so payloads keep their meaning but not
 * their bytes. The SDK's event source would come back by itself, to a session that nobody has initialised: here the
 * end of the stream is the end of the link.
 */
export class SseTransport extends SSEClientTransport implements LinkTransport {
  override async start(): Promise<void> {
    try {
      await super.start();
    } catch (cause) {
      throw new TransportError('unreachable', `cannot connect: ${wordsOf(cause)}`, {}, { cause });
    }
    const report = this.onerror;
    this.onerror = (error) => {
      if (!(error instanceof SseError)) return report?.(error);
      report?.(
        new TransportError('broken', `the event stream ended: ${wordsOf(error)}`, {}, { cause: error }),
      );
      void this.close();
    };
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    try {
      await super.send(message);
    } catch (cause) {
      throw new TransportError(
        'broken',
        `the server did not take a message: ${wordsOf(cause)}`,
        {},
        { cause },
      );
    }
  }
}

/**
 * What the SDK says, without the body of a refusal, in which a server may repeat the credentials we sent, and without
 * the address: clients hear these words.
 */
const wordsOf = (error: unknown): string =>
  (error as Error).message.replace(/(\(HTTP \d{3}\)|\bE[A-Z]{4,}\b).*/s, '$1');
