import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { CancelSignal } from '../../lib/cancellation/cancellation.js';
import type { JsonText, Member } from '../../lib/json-text/json-text.js';
import type { Caller, Channel } from '../../mcp/mcp-context.js';
import type { ParamHeader } from '../../mcp/param-headers.js';
import type { SplitParams } from '../../mcp/split-params.js';
import type { LinkEra } from './era-record.js';

/** How a server described itself when the link was opened. */
export interface ServerFacts {
  readonly protocolVersion: string;
  readonly capabilities: ServerCapabilities;
  readonly serverInfo: Implementation;
  readonly instructions?: string | undefined;
  /** The newest revision of the 2025 era that a server of 2026 offers too in its result of `server/discover`. */
  readonly alsoOffers?: string | undefined;
}

/** A request to a server. */
export interface LinkRequest {
  readonly method: string;
  /** JSON text. The link changes only the progress token and what the protocol era of the server requires. */
  readonly params?: string | undefined;
  /** The positions of the members of `params`, if the sender knows them. */
  readonly paramsMembers?: readonly Member[] | undefined;
  /** Given in place of `params` for most calls of clients of 2026. There is no progress token and no `requestState` in it. */
  readonly split?: SplitParams | undefined;
  /** The request is cancelled when this time has passed without a response or progress. */
  readonly timeoutMs: number;
  /**
   * The end of the timeout, as a time of `performance.now()`. Absent if the timeout begins when the request is sent. The
   * timeout of a client's call begins earlier, when the call arrives: it includes the waits for a slot and for a link.
   */
  readonly deadline?: number | undefined;
  /** The sender of the client's request for which this request is made; absent for requests of the gateway itself. */
  readonly caller?: Caller | undefined;
  /** Whether no other call is sent before this one has ended. It usually begins in the moment in which another call ends. */
  readonly runsAlone?: boolean | undefined;
  /** The cancel signal of a request of the gateway itself. */
  readonly signal?: CancelSignal | undefined;
  /** Called with the id of the request, immediately before the request is sent. */
  readonly onIdAssigned?: ((id: number) => void) | undefined;
  /** The own name or URI of the called tool, prompt or resource, if the sender knows it. */
  readonly target?: string | undefined;
  /** The arguments of the called tool that are sent in HTTP headers too. Only links of 2026 over HTTP send these headers. */
  readonly paramHeaders?: readonly ParamHeader[] | undefined;
}

/** A notification of a server, except progress and cancellations. */
export interface ServerNotification {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly paramsText: string | undefined;
  /** The client that a log message is for; undefined if it is for all clients, and for other notifications. */
  readonly channel: Channel | undefined;
}

/** The status of the notification stream. `lost`: it has ended, and will be opened again. `none`: the server does not offer it. */
export type NotificationStreamStatus = 'opening' | 'open' | 'lost' | 'none';

/** The subscriptions of a link whose updates come on listen streams (revision 2026-07-28). */
export interface StreamSubscriptions {
  /** Resolves when the server has accepted the URI. Rejects when it has not. */
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): void;
}

/** Says why a link could not be opened. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';

  constructor(
    cause: Error,
    /** The last lines of the child process on stderr. */
    readonly stderr: readonly string[],
  ) {
    super(cause.message, { cause });
  }
}

/**
 * One live connection to a server, over any transport and in any protocol era. The link writes and cancels requests as the era
 * requires. A closed link does not reconnect: another link takes its place. A link does not limit concurrent requests; the call
 * gate does.
 */
export interface Link {
  readonly facts: ServerFacts;

  readonly era: LinkEra;

  /** Whether requests repeat arguments of tools in HTTP headers, as revision 2026-07-28 requires. */
  readonly sendsParamHeaders: boolean;

  /** Resolves with the reason when the link cannot be used any more. */
  readonly closed: Promise<Error>;

  /** Resolves with the result as the server wrote it. Rejects with RemoteError, TransportError or GatewayError. */
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

  /** The subscriptions of a link of the 2026 era; undefined in the 2025 era, in which each subscription is a request. */
  readonly listens: StreamSubscriptions | undefined;

  /**
   * Whether the server does not know `resources/subscribe` or, in the 2026 era, `subscriptions/listen`, although it may announce
   * subscriptions. Set by the code that subscribes and, in the 2026 era, by the handshake.
   */
  refusesSubscriptions: boolean;

  /** Calls the listener whenever notifications may have been lost. */
  onGap(listener: () => void): void;

  /** The id of the child process, if there is one. */
  readonly pid: number | undefined;
  /** The last lines on stderr. Returns the same array until the child process writes more. */
  stderrTail(): readonly string[];

  /** Resolves when all resources of the link, processes included, are released. Requests in flight are rejected. Idempotent. */
  close(): Promise<void>;
}
