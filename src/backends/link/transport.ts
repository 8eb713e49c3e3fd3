import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JsonDocument } from '../../lib/json-text/json-document.js';
import type { JsonProblem } from '../../lib/json-text/json-reader.js';
import type { JSONRPCMessage, MessageExtraInfo, RequestId } from '@modelcontextprotocol/sdk/types.js';

/** What the gateway's transports pass on together with a received message. */
export interface MessageExtra extends MessageExtraInfo {
  /** The message as the server wrote it, so that payloads pass unchanged. */
  readonly document?: JsonDocument;
  /**
   * The request on whose response stream the message came; absent when it came on a stream that belongs to no single
   * request, such as stdout or the notification stream.
   */
  readonly requestId?: RequestId;
}

/**
 * The state of the notification stream.
 * - `open`: it was opened; notifications that were sent before are lost
 * - `resumed`: it was opened again; the server replays the notifications that were sent meanwhile
 * - `silent`: it delivered nothing for a long time; its connection may be dead
 * - `lost`: it ended
 * - `none`: the server does not offer it
 */
export type StreamState = 'open' | 'resumed' | 'silent' | 'lost' | 'none';

/** Limits the unsolicited messages that a transport reads. */
export interface InboundGate {
  readonly isOverRate: boolean;
  /** To be called before a message is parsed, while `isOverRate` is true. False for a message that must not be parsed. */
  admits(text: string): boolean;
  /** Counts a message that is ignored because it is malformed, also against the rate: reading it took time. */
  chargeMalformed(): void;
  /** For how many milliseconds the transport must not read after it has read for `ms`. */
  pauseAfter(ms: number): number;
  /**
   * To be called when messages on a stream that belongs to no single request are read late: what is read from now on may
   * have been sent since `time` (of `performance.now()`).
   */
  expectMessagesSince(time: number): void;
}

/**
 * A client transport of the SDK that also accepts messages as text: `sendText` and `MessageExtra.document` keep payloads
 * byte for byte.
 */
export interface LinkTransport extends Transport {
  onmessage?: ((message: JSONRPCMessage, extra?: MessageExtra) => void) | undefined;

  /**
   * Sends one message that is already text; `requestId` is given when it is a request. `headers` are lines of further HTTP
   * headers, each with its line break. Rejects with a TransportError when the message cannot be delivered or, over HTTP,
   * when the server does not respond.
   */
  sendText(text: string, requestId?: RequestId, headers?: string): Promise<void>;

  /** Sets the revision that all later messages declare; undefined while it is not known. */
  setProtocolVersion?: ((version: string | undefined) => void) | undefined;

  /** Called when a message was not read because it exceeds a JSON limit. The problem says which one. */
  onrefused?: ((problem: JsonProblem) => void) | undefined;

  /** Set before `start`. */
  inbound?: InboundGate | undefined;

  /** Called when the state of the notification stream changes. */
  onstream?: ((state: StreamState) => void) | undefined;

  /** Opens the separate notification stream of the transport. To be called when the server is initialized. */
  openNotificationStream?(): void;

  /** Replaces a notification stream whose connection is dead but not closed. */
  reopenNotificationStream?(): void;

  /** Releases the resources of a request whose response is not needed any more. */
  abandon?(requestId: RequestId): void;

  /** The last lines on stderr of the child process, oldest first. Returns the same array until the child writes more. */
  stderrTail?(): readonly string[];

  /** The id of the child process, if there is one. */
  readonly pid?: number | undefined;
}

/**
 * - `unreachable`: no connection; the message was not delivered
 * - `session-expired`: the server rejected the session id, or the protocol era; the message was not executed
 * - `refused`: the server responded with an HTTP error
 * - `broken`: no valid response arrived; whether the server executed the message is unknown
 * - `too-large`: a line or body is over the size limit
 * - `busy`: the server does not read its input fast enough; the message was not delivered
 */
export type TransportFault = 'unreachable' | 'session-expired' | 'refused' | 'broken' | 'too-large' | 'busy';

interface FaultDetails {
  /**
   * Only with `too-large`: the transport stopped reading at its size limit. Not set when the message was read and then
   * refused.
   */
  readonly isUnread?: boolean;
  readonly httpStatus?: number;
  readonly retryAfterMs?: number;
  /** The child process has exited, or has closed a pipe and is therefore stopped by the gateway. */
  readonly hasExited?: boolean;
  /** The error code of the operating system with which the child process could not be started. */
  readonly spawnCode?: string | undefined;
}

export class TransportError extends Error {
  override readonly name = 'TransportError';

  constructor(
    readonly fault: TransportFault,
    message: string,
    readonly details: FaultDetails = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
