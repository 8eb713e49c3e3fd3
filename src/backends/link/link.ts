import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import type { Caller, Channel } from '../../mcp/mcp-context.js';

/** What a server said of itself when the link came up. */
export interface ServerFacts {
  readonly protocolVersion: string;
  readonly capabilities: ServerCapabilities;
  readonly serverInfo: Implementation;
  readonly instructions?: string | undefined;
}

export interface LinkRequest {
  readonly method: string;
  /** JSON text; passed on as it is but for the progress token. */
  readonly params?: string | undefined;
  /** Without an answer or progress for this long the request is cancelled upstream. */
  readonly timeoutMs: number;
  /** The client request behind it; absent for the gateway's own. */
  readonly caller?: Caller | undefined;
}

/** Something a server says unasked; `channel` leads to the client it is meant for, where that is certain. */
export interface ServerNotification {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly paramsText: string | undefined;
  readonly channel: Channel | undefined;
  /** It belongs to the call of some client, and there is no telling whose. */
  readonly ambiguous: boolean;
}

/** Why a link did not come up, and what the child process had to say about it. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';

  constructor(
    cause: Error,
    readonly stderr: readonly string[],
  ) {
    super(cause.message, { cause });
  }
}

/**
 * One live connection to a server, whatever its transport and protocol era. A link is used until it closes and
 * then replaced; it never reconnects by itself and does not limit how much is asked of it at once.
 */
export interface Link {
  readonly facts: ServerFacts;

  /** Settles when the link is of no more use, with the reason. Requests in flight fail by themselves. */
  readonly closed: Promise<Error>;

  /** The result as the server wrote it. Rejects with RemoteError, TransportError or GatewayError. */
  request(request: LinkRequest): Promise<JsonText>;

  /** Resolves with any answer of the server, an error included; rejects when there is none. */
  ping(): Promise<void>;

  notify(method: string, params?: string): void;

  onNotification(listener: (notification: ServerNotification) => void): void;

  /** Settles when what the server says unasked is heard, or when there is no use in waiting for that. */
  readonly notificationsReady: Promise<void>;

  /** Calls the listener whenever the server may have said something unasked that nobody heard. */
  onGap(listener: () => void): void;

  /** The child process behind it, and what it last wrote to stderr: the same array until there is more. */
  readonly pid: number | undefined;
  stderrTail(): readonly string[];

  /** Idempotent. Waits until everything the link holds, processes included, is gone. */
  close(): Promise<void>;
}
