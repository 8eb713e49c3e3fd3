import type { ClientCapabilities, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { JsonText } from '../core/json-text.js';
import type { Scope } from '../core/scope.js';
import type { Revision } from './revisions/revision.js';

/** The client at the other end: a 2025 session. Its id never leaves the process. */
export interface McpClient {
  readonly id: string;
  readonly capabilities: ClientCapabilities;
  /** Calls the listener once, when the client is gone for good. Returns the way to stop listening. */
  onClose(listener: () => void): () => void;
}

/** The request that caused a call to a backend, as far as the backend's side may reach back to it. */
export interface Caller {
  readonly client: McpClient;
  /** Aborted when the client cancels the request or is gone for good. */
  readonly signal: AbortSignal;
  /** Sends a notification ahead of the result, on this request's own stream. */
  notify(method: string, params: JsonText): void;
  /** Asks the client something on this request's own stream. Rejects when the client cannot be asked. */
  request(method: string, params: JsonText | undefined, signal: AbortSignal): Promise<JsonText>;
}

/** One MCP request on its way through guards and handler. */
export interface McpContext extends Caller {
  readonly method: string;
  readonly requestId: RequestId;
  readonly revision: Revision;
  readonly scope: Scope;
  /** The params as the client wrote them. */
  readonly paramsText: string | undefined;
}
