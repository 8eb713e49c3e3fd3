import type { Span } from '@opentelemetry/api';
import type { ClientCapabilities, Implementation, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { CancelSignal } from '../lib/cancellation/cancellation.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import type { NotificationKind } from '../core/notification-kind.js';
import type { Scope } from '../core/scope.js';
import type { EventFrame } from './event-frame.js';
import type { Principal } from './principal.js';
import type { Revision } from './revisions/revision.js';

/** How far a question to a client has come, and when it is no longer wanted. */
export interface ClientRequestOptions {
  readonly signal: CancelSignal;
  /** Gets the params of each progress notification that the client sends while it works on the answer. */
  readonly onProgress?: (params: JsonText) => void;
}

/** A way to reach a client: one request's own stream, or the client's standing stream. */
export interface Channel {
  notify(method: string, params: JsonText | undefined): void;
  /** Rejects when the client cannot be asked, declines, or is gone. */
  sendRequest(method: string, params: JsonText | undefined, options: ClientRequestOptions): Promise<JsonText>;
}

/** What may become of a notification on its way to a client that is slow to read. */
export interface DeliverOptions {
  /** Of several waiting events with one key, only the latest matters. */
  readonly coalesce?: string;
  /** May be left out when a slow reader falls too far behind. */
  readonly droppable?: boolean;
  /** What a notification is counted as; an answer or a question is none. */
  readonly kind?: NotificationKind;
  /** The server that said it, where the client may lose sight of that before it has the event. */
  readonly server?: string;
}

/** The client at the other end: a session. Its id never leaves the process. */
export interface ClientSession extends Channel {
  readonly id: string;
  readonly capabilities: ClientCapabilities;
  /** Calls the listener once, when the client is gone for good. Returns the way to stop listening. */
  onClose(listener: () => void): () => void;
}

/** A client as those see it who have news for many. */
export interface Subscriber extends ClientSession {
  readonly principal: Principal;
  /** What it calls itself. */
  readonly clientInfo?: Implementation | undefined;
  /** What it may hear of. */
  readonly scope: Scope;
  /** Sends an event that was encoded once for many; it waits, within bounds, for a client that has no stream open. */
  deliver(frame: EventFrame, options: DeliverOptions): void;
  /** Takes back what waits for the client and is not for it any more. */
  withdraw(isStale: (event: DeliverOptions) => boolean): void;
  /** Calls the listener when the client may hear of other servers than before. Returns the way to stop listening. */
  onScopeChange(listener: () => void): () => void;
}

/** The request that caused a call to a backend, as far as the backend's side may reach back to it. */
export interface Caller extends Channel {
  readonly session: ClientSession;
  /** Aborted when the client cancels the request or is gone for good. */
  readonly signal: CancelSignal;
  /** What the calls made for it belong to, where requests are traced. */
  readonly span?: Span | undefined;
}

/** One MCP message on its way through guards and handler. */
export interface McpContext extends Caller {
  readonly session: Subscriber;
  readonly method: string;
  /** Absent on a notification. */
  readonly requestId: RequestId | undefined;
  readonly revision: Revision;
  readonly principal: Principal;
  /** What the path, the header and the session say of the project; they have to agree. */
  readonly namedProjects: readonly string[];
  /** The project the request is narrowed to, and what it may therefore see. The project guard settles both. */
  project: string | undefined;
  scope: Scope;
  /** The params as the client wrote them. */
  readonly paramsText: string | undefined;
}
