import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { CancelSignal } from '../../lib/cancellation/cancellation.js';
import type { JsonText, Member } from '../../lib/json-text/json-text.js';
import type { Caller, Channel } from '../../mcp/mcp-context.js';
import type { ParamHeader } from '../../mcp/param-headers.js';
import type { LinkEra } from './era-record.js';

/** How a server described itself when the link was opened. */
export interface ServerFacts {
  readonly protocolVersion: string;
  readonly capabilities: ServerCapabilities;
  readonly serverInfo: Implementation;
  readonly instructions?: string | undefined;
}

export interface LinkRequest {
  readonly method: string;
  /** JSON text, sent unchanged except for the progress token. */
  readonly params?: string | undefined;
  /** The positions of the members of `params`, if the sender knows them. */
  readonly paramsMembers?: readonly Member[] | undefined;
  /** The request is cancelled after this long without a response or progress. */
  readonly timeoutMs: number;
  /**
   * When the request times out, as a time of `performance.now()`, if its timeout began before it was sent: a client waits
   * `timeoutMs` from the arrival of its call, including the time in a queue or until a link is open.
   */
  readonly deadline?: number | undefined;
  /** The client request that this request is made for; absent for requests of the gateway itself. */
  readonly caller?: Caller | undefined;
  /** Cancels a request of the gateway itself. */
  readonly signal?: CancelSignal | undefined;
  /** Called with the id of the request, before it is sent. */
  readonly onSent?: ((id: number) => void) | undefined;
  /** The own name or URI of the called tool, prompt or resource, if the sender knows it. */
  readonly target?: string | undefined;
  /** The arguments of the called tool that are repeated in headers. Only links of 2026 over HTTP send them. */
  readonly paramHeaders?: readonly ParamHeader[] | undefined;
}

/** `channel` reaches the client that a log message is for. Undefined if it is for all clients, and in other notifications. */
export interface ServerNotification {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly paramsText: string | undefined;
  readonly channel: Channel | undefined;
}

/** Whether the server can send notifications; `lost` while the stream is reopened, `none` when the server offers none. */
export type NotificationStreamStatus = 'opening' | 'open' | 'lost' | 'none';

/** Subscriptions to resources whose updates come on streams of their own. */
export interface StreamSubscriptions {
  /** Resolves when the server has accepted the URI. */
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): void;
}

/** Why a link could not be opened, with the stderr of the child process. */
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
 * One live connection to a server, of any transport and protocol era. The link frames and cancels requests as the era
 * requires. A closed link does not reconnect; it is replaced. Concurrent requests are not limited here.
 */
export interface Link {
  readonly facts: ServerFacts;

  readonly era: LinkEra;

  /** Whether arguments of tools are repeated in headers, as revision 2026-07-28 requires over HTTP. */
  readonly sendsParamHeaders: boolean;

  /** Resolves with the reason when the link cannot be used any more. Requests in flight are rejected. */
  readonly closed: Promise<Error>;

  /** The result as the server wrote it. Rejects with RemoteError, TransportError or GatewayError. */
  request(request: LinkRequest): Promise<JsonText>;

  /** Number of messages of the server so far. An HTTP response that refuses a request counts as one. */
  readonly received: number;

  /** Sends a request that any server can respond to. Resolves when the server has responded, or after the timeout. */
  probe(timeoutMs: number): Promise<void>;

  notify(method: string, params?: string): void;

  onNotification(listener: (notification: ServerNotification) => void): void;

  /** Resolves when the notification stream is open, is not offered by the server, or takes too long to open. */
  readonly notificationsReady: Promise<void>;

  readonly notificationStream: NotificationStreamStatus;

  /** The subscriptions of a link of the 2026 era; undefined in the 2025 era, where each is a request. */
  readonly listens: StreamSubscriptions | undefined;

  /**
   * The server does not know `resources/subscribe`, even if it announces subscriptions. Set by the code that subscribes.
   */
  refusesSubscriptions: boolean;

  /** Calls the listener whenever notifications may have been lost. */
  onGap(listener: () => void): void;

  /** The id of the child process, if there is one. */
  readonly pid: number | undefined;
  /** The last lines on stderr. Returns the same array until the child process writes more. */
  stderrTail(): readonly string[];

  /** Idempotent. Resolves when all resources of the link, processes included, are released. */
  close(): Promise<void>;
}
