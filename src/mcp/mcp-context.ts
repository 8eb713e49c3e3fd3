import type { ServerResponse } from 'node:http';
import type { Span } from '@opentelemetry/api';
import type {
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import type { CancelSignal } from '../lib/cancellation/cancellation.js';
import type { JsonText, Member } from '../lib/json-text/json-text.js';
import type { Scope } from '../core/scope.js';
import type { NotificationFrame } from './event-frame.js';
import type { Principal } from './principal.js';
import type { Revision } from './revisions/revision.js';
import type { HttpHeaders } from './standard-headers.js';

/** Options of a request to a client. */
export interface ClientRequestOptions {
  /** Aborted when the server cancels the request, when the call that it belongs to ends, or when the link is closed. */
  readonly signal: CancelSignal;
  /** Receives the params of each progress notification that the client sends before its response. */
  readonly onProgress?: (params: JsonText) => void;
}

/** Sends messages to a client: on the stream of one request, or on the standalone stream of its session. */
export interface Channel {
  notify(method: string, params: JsonText | undefined): void;
  /** Rejects when the client does not support the method, responds with an error, or its session is closed. */
  sendRequest(method: string, params: JsonText | undefined, options: ClientRequestOptions): Promise<JsonText>;
}

/** How an event is delivered, above all while its stream is slow or closed. */
export interface DeliverOptions {
  /** A key. Of several queued events with the same key, only the latest is kept. */
  readonly coalesce?: string;
  /** Whether the event may be dropped when the queue is full. */
  readonly droppable?: boolean;
  /** Whether the stream may refuse the event when its queue is full of events that must not be dropped. */
  readonly refusable?: boolean;
  /** Called when the event is written, and when it is queued while its stream has no connection. May be called twice. */
  readonly onSent?: (() => void) | undefined;
  /** The server that sent the event, so that the event can be withdrawn when the client loses access to that server. */
  readonly server?: string;
}

/**
 * The owner of links that are not shared (`isolation: session`): a session or, for clients without sessions, a principal or a
 * handle (`sessionHandle` of `ModernContext`). The id is internal: no client or server gets it.
 */
export interface LinkOwner extends Channel {
  readonly id: string;
  /** The key under which limits per principal count the owner: see `Caller`. */
  readonly quotaKey: string;
  readonly capabilities: ClientCapabilities;
  readonly isClosed: boolean;
  /** Calls the listener once, when the owner is closed. Returns a function that removes the listener. */
  onClose(listener: () => void): () => void;
}

/** A recipient of notifications: a session, or a listen stream of a client. */
export interface Subscriber {
  readonly id: string;
  readonly principal: Principal;
  /** The key under which limits per principal count its subscriptions: see `Caller`. */
  readonly quotaKey: string;
  readonly clientInfo?: Implementation | undefined;
  /** The id that `linkOwner` has or would have. Reading it does not create the owner. */
  readonly linkOwnerId: string | undefined;
  /**
   * The owner of the links that are not shared (`isolation: session`), over which subscriptions are made for this subscriber:
   * see `Caller`. From the first use on, the owner keeps these links open until the subscriber is closed.
   */
  readonly linkOwner?: LinkOwner | undefined;
  /** The servers whose notifications the subscriber may receive. */
  readonly scope: Scope;
  /** Sends an event. While no stream is open, the event is queued, within bounds. */
  deliver(frame: NotificationFrame, options: DeliverOptions): void;
  /** Removes queued events that the recipient may no longer receive. */
  withdraw(isStale: (event: DeliverOptions) => boolean): void;
  /** Whether a stream is open, so that events are sent now. Otherwise they are queued until a stream is open. */
  readonly hasStream: boolean;
  /** Calls the listener after each change of `scope`. Returns a function that removes the listener. */
  onScopeChange(listener: () => void): () => void;
  /**
   * Calls the listener when the client has opened its stream again without saying which events it received. The listener
   * sends updates that the client may have missed. `queued` has the `coalesce` keys of the events that are still queued for the
   * client and need not be sent again. Returns a function that removes the listener.
   */
  onMissedEvents(listener: (queued: ReadonlySet<string>) => void): () => void;
  /** Calls the listener once, when the subscriber is closed. Returns a function that removes the listener. */
  onClose(listener: () => void): () => void;
}

/** The sender of one request, for which the gateway makes calls to servers. */
export interface Caller extends Channel {
  /** The fair queue of a server takes the calls with the same `quotaKey` in turn from each value of `key`. */
  readonly key: string;
  /**
   * The key under which limits per principal count: the id of the principal, or the remote address of an anonymous caller.
   */
  readonly quotaKey: string;
  readonly principal: Principal;
  readonly capabilities: ClientCapabilities;
  readonly revision: Revision;
  readonly logLevel: LoggingLevel | undefined;
  /** Absent for a client of a revision without sessions. */
  readonly session?: LinkOwner | undefined;
  /**
   * The owner of the links that are not shared (`isolation: session`): the session or, for a client without sessions, its
   * principal or handle. Absent if the caller can have no such link.
   */
  readonly linkOwner?: LinkOwner | undefined;
  /**
   * Aborted when the client cancels the request, when its session is closed, or when the gateway ends the request. In the last
   * case, the reason of the signal is the error with which the request fails.
   */
  readonly signal: CancelSignal;
  /**
   * Whether the call is parked: it waits for the client to repeat its request with the answer to a question. Until then no
   * HTTP exchange is open, and the timeout of the call does not run. `ParkedCalls` limits the waiting time.
   */
  readonly isParked?: boolean | undefined;
  /** Capabilities that a question of the server required and the client did not declare. The client was not asked then. */
  readonly missingCapabilities?: ClientCapabilities | undefined;
  /** Whether the request certainly has no progress token. If false or absent, the text of its params has to be searched. */
  readonly lacksProgressToken?: boolean | undefined;
  /** The parent of the spans of calls to servers; absent if the request is not traced. */
  readonly span?: Span | undefined;
}

/** One MCP message of a client, as the guards and the handler of its method receive it. */
export interface McpContext extends Caller {
  readonly method: string;
  /** Absent for a notification. */
  readonly requestId: RequestId | undefined;
  /**
   * The projects that are named in the path and the headers of the request, and the project of its session. The project guard
   * requires that all of them are the same project.
   */
  readonly namedProjects: readonly string[];
  /** Set by the project guard. */
  project: string | undefined;
  /** Set by the project guard: what the request may see. */
  scope: Scope;
  /** Set by the handler: the server that the request is forwarded to. */
  server?: string | undefined;
  /** The params as the client wrote them. */
  readonly paramsText: string | undefined;
  /** The positions of the members in `paramsText`. */
  readonly paramsMembers?: readonly Member[] | undefined;
  /** The HTTP headers, some of which repeat arguments of a tool. Absent in revisions that have no such headers. */
  readonly argumentHeaders?: HttpHeaders | undefined;
}

/** A request that subscribes or unsubscribes. */
export interface SubscriberRequest extends Pick<McpContext, 'linkOwner' | 'scope' | 'signal'> {
  readonly subscriber: Subscriber;
}

/** The context of methods that exist only in revisions with sessions. */
export interface SessionContext extends McpContext, SubscriberRequest {
  readonly session: LinkOwner & Subscriber;
  /** Calls the listener when the response to the request is written, or its connection is lost. */
  onWritten(listener: () => void): void;
}

/** The context of methods that exist only in revision 2026-07-28. */
export interface ModernContext extends McpContext {
  /** The id that `linkOwner` has or would have. Reading it does not create the owner. */
  readonly linkOwnerId: string | undefined;
  /** The value of `_meta["io.gatehouse/session"]`. Requests of one principal with the same value share the link owner. */
  readonly sessionHandle: unknown;
  readonly clientInfo: Implementation | undefined;
  /**
   * Opens the response as an event stream and returns it. From then on, the handler writes the events. The request counts as
   * answered: the result of its handler is not written, and `signal` is not aborted when the client closes the stream.
   */
  takeStream(): ServerResponse;
}
