import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, MessageExtraInfo, RequestId } from '@modelcontextprotocol/sdk/types.js';

/** What our own transports know about a message beyond its meaning. */
export interface MessageExtra extends MessageExtraInfo {
  /** The message as it was written, so that its payload can pass on untouched. */
  readonly text?: string;
  /** Our request on whose response stream it came; absent where the transport has only one stream. */
  readonly requestId?: RequestId;
}

/**
 * What becomes of the stream on which a server speaks unasked.
 * - `open`: it begins here; what the server said before it is lost
 * - `resumed`: it goes on where it broke off
 * - `silent`: nothing has come for long, and there is no telling whether it is still there
 * - `lost`: it broke off
 * - `none`: the server offers no such stream
 */
export type StreamState = 'open' | 'resumed' | 'silent' | 'lost' | 'none';

/**
 * An SDK client transport that also takes messages as text. `sendText` and `MessageExtra.text` keep payloads byte for
 * byte; `abandon` releases what an unanswered request holds.
 */
export interface LinkTransport extends Transport {
  onmessage?: ((message: JSONRPCMessage, received?: MessageExtra) => void) | undefined;

  /**
   * Sends one message that is already text; `requestId` is given when it is a request. Rejects with a TransportError
   * when the message cannot be delivered or, over HTTP, when the server does not respond to it.
   */
  sendText(text: string, requestId?: RequestId): Promise<void>;

  /** Called when something becomes of the transport's own stream. */
  onstream?: ((state: StreamState) => void) | undefined;

  /** Called once the handshake is done: a transport that listens on a stream of its own opens it now. */
  openNotificationStream?(): void;

  /** The stream is dead, though it looks alive. */
  reopenNotificationStream?(): void;

  /** Nobody waits for the answer to this request any more. */
  abandon?(requestId: RequestId): void;

  /** The last lines a child process wrote to stderr, oldest first. The same array until there is more. */
  stderrTail?(): readonly string[];

  /** The child process behind the link. */
  readonly pid?: number | undefined;
}

/**
 * - `unreachable`: no connection; the message was not delivered
 * - `session-lost`: the server no longer knows our session; the message was not executed
 * - `refused`: the server answered with an HTTP error
 * - `broken`: the exchange ended before its answer; whether the message was executed is unknown
 * - `too-large`: a line or body over the cap
 * - `busy`: the server does not take what we send fast enough; the message was not delivered
 */
export type TransportFault = 'unreachable' | 'session-lost' | 'refused' | 'broken' | 'too-large' | 'busy';

export class TransportError extends Error {
  override readonly name = 'TransportError';

  constructor(
    readonly fault: TransportFault,
    message: string,
    readonly details: { readonly httpStatus?: number; readonly retryAfterMs?: number } = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
