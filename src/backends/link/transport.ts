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
 * - `open`: the stream was opened; earlier notifications may be lost
 * - `resumed`: the stream was opened again, and the server replays the notifications that it has sent meanwhile
 * - `silent`: the stream has delivered nothing for a long time; its connection may be dead
 * - `lost`: the stream has ended
 * - `none`: the server does not offer the stream
 */
export type StreamState = 'open' | 'resumed' | 'silent' | 'lost' | 'none';

/** Limits the unsolicited messages that a transport reads. */
export interface InboundGate {
  /** Whether the server has sent more unsolicited messages than its rate allows. */
  readonly isOverRate: boolean;
  /** To be called while `isOverRate` is true, before a message is parsed. Returns false if it must not be parsed. */
  admits(text: string): boolean;
  /** To be called for a malformed message, which is ignored. It counts against the rate, because reading it took time. */
  chargeMalformed(): void;
  /** To be called after the transport has read for `ms`. Returns the milliseconds for which it must not read now. */
  pauseAfter(ms: number): number;
  /**
   * To be called when the transport pauses a stream that belongs to no single request, or reads it again after an interruption.
   * The messages that it reads next may have been sent as early as `time` (of `performance.now()`).
   */
  expectMessagesSince(time: number): void;
}

/**
 * A client transport of the SDK that also sends and receives messages as text, so that payloads stay the same byte for byte:
 * `sendText` and `MessageExtra.document`.
 */
export interface LinkTransport extends Transport {
  onmessage?: ((message: JSONRPCMessage, extra?: MessageExtra) => void) | undefined;

  /**
   * Sends one message. If it is a request, `requestId` is its id. `headers` are lines of further HTTP headers, each with its
   * line break. Rejects with a TransportError when the message cannot be delivered or, over HTTP, when the server does not
   * respond.
   */
  sendText(text: string, requestId?: RequestId, headers?: string): Promise<void>;

  /**
   * Sends one request like `sendText`, and calls `onFailure` where `sendText` would reject. This saves a promise: a call has only
   * the promise of its result. The link uses `sendText` if the transport does not have this function.
   */
  sendRequestText?(
    text: string,
    requestId: RequestId,
    headers: string | undefined,
    onFailure: (error: Error) => void,
  ): void;

  /** Sets the revision that all later messages declare. They declare none if it is undefined. */
  setProtocolVersion?: ((version: string | undefined) => void) | undefined;

  /** Called when a message was not read because it exceeds a JSON limit. The problem says which one. */
  onrefused?: ((problem: JsonProblem) => void) | undefined;

  /** The rate limit of the link. The link sets it before it calls `start`. */
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
 * - `unreachable`: there is no connection; the message was not delivered
 * - `session-expired`: the server rejected the session id, or the protocol era; it did not execute the message
 * - `refused`: the server refused the message, for example with an HTTP error, or offers only what the gateway does not support
 * - `broken`: no valid response arrived; the server may have executed the message
 * - `too-large`: a message of the server is over a limit
 * - `busy`: the server does not read its input fast enough; the message was not delivered
 */
export type TransportFault = 'unreachable' | 'session-expired' | 'refused' | 'broken' | 'too-large' | 'busy';

interface FaultDetails {
  /** True only with `too-large`, if the transport stopped reading the message at its size limit. */
  readonly isUnread?: boolean;
  readonly httpStatus?: number;
  readonly retryAfterMs?: number;
  /** Whether the child process has exited, or the gateway ends it because it has closed a pipe or written too long a line. */
  readonly hasExited?: boolean;
  /** The error code of the operating system with which the child process could not be started. */
  readonly spawnCode?: string | undefined;
}

/** The failure of a transport, or of one message on it. */
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
