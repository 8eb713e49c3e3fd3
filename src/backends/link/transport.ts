import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, MessageExtraInfo, RequestId } from '@modelcontextprotocol/sdk/types.js';

/** Facts about a received message that the gateway's transports pass on with it. */
export interface MessageExtra extends MessageExtraInfo {
  /** The message as the server wrote it, so that payloads pass unchanged. */
  readonly text?: string;
  /** The request on whose response stream the message came; absent where the transport has only one stream. */
  readonly requestId?: RequestId;
}

/**
 * The state of the notification stream.
 * - `open`: it was opened; earlier notifications are lost
 * - `resumed`: it was opened again and replays what was missed
 * - `silent`: it delivered nothing for long and may be dead
 * - `lost`: it ended
 * - `none`: the server does not offer it
 */
export type StreamState = 'open' | 'resumed' | 'silent' | 'lost' | 'none';

/**
 * An SDK client transport that also takes messages as text. `sendText` and `MessageExtra.text` keep payloads byte for
 * byte; `abandon` releases the resources of an unanswered request.
 */
export interface LinkTransport extends Transport {
  onmessage?: ((message: JSONRPCMessage, received?: MessageExtra) => void) | undefined;

  /**
   * Sends one message that is already text; `requestId` is given when it is a request. Rejects with a TransportError
   * when the message cannot be delivered or, over HTTP, when the server does not respond to it.
   */
  sendText(text: string, requestId?: RequestId): Promise<void>;

  /** Called when the state of the notification stream changes. */
  onstream?: ((state: StreamState) => void) | undefined;

  /** Opens the separate notification stream of the transport. To be called when the server is initialized. */
  openNotificationStream?(): void;

  /** Replaces a notification stream that is dead but not closed. */
  reopenNotificationStream?(): void;

  /** Releases the resources of a request whose answer is no longer awaited. */
  abandon?(requestId: RequestId): void;

  /** The last lines on stderr of the child process, oldest first. Returns the same array until there are more. */
  stderrTail?(): readonly string[];

  /** The id of the child process, if there is one. */
  readonly pid?: number | undefined;
}

/**
 * - `unreachable`: no connection; the message was not delivered
 * - `session-lost`: the server does not know the session any more; the message was not executed
 * - `refused`: the server answered with an HTTP error
 * - `broken`: the exchange ended before its answer; whether the message was executed is unknown
 * - `too-large`: a line or body is over the size limit
 * - `busy`: the server does not read its input fast enough; the message was not delivered
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
