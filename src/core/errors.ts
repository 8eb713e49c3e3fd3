/** Every way in which a request can fail. `ERROR_CODES` maps each kind to the codes that clients see. */
export type ErrorKind =
  | 'parse-error'
  | 'invalid-request'
  | 'method-not-found'
  | 'invalid-params'
  | 'tool-not-found'
  | 'prompt-not-found'
  | 'resource-not-found'
  | 'nothing-to-subscribe'
  | 'subscription-failed'
  | 'project-not-found'
  | 'internal'
  | 'server-unavailable'
  | 'timeout'
  | 'cancelled'
  | 'response-lost'
  | 'overloaded'
  | 'limit-exceeded'
  | 'too-many-connections'
  | 'bad-request'
  | 'session-required'
  | 'session-not-found'
  | 'unauthorized'
  | 'insufficient-scope'
  | 'forbidden'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'payload-too-large'
  | 'unsupported-media-type'
  | 'bad-envelope'
  | 'header-mismatch'
  | 'missing-capability'
  | 'unsupported-version'
  | 'storage-full'
  | 'storage-unavailable';

/** Protocol eras of MCP: revisions with sessions (2025) and without (2026). Some error codes differ. */
export type Era = '2025' | '2026';

interface ErrorCodes {
  /** JSON-RPC code. */
  readonly code: number;
  /** Code in revisions of 2026, where it differs. */
  readonly code2026?: number;
  /**
   * HTTP status. It is 200 if the HTTP request was valid and only the MCP method failed: SDK clients read JSON-RPC
   * errors only from a response with status 200, and in revisions of 2026 also from one with status 400.
   */
  readonly http: number;
  /** HTTP status in revisions of 2026, where it differs. */
  readonly http2026?: number;
}

/**
 * The only table of codes. The gateway's own codes are between -31999 and -31000, just outside the range that JSON-RPC
 * reserves (-32768…-32000). In revisions of 2025, a failed HTTP exchange has code -32000 or -32001, as in servers of
 * the SDK. Revision 2026-07-28 asks servers not to use -32000 to -32019. In this revision, the code of a failed HTTP
 * exchange is -31000 minus the HTTP status.
 */
export const ERROR_CODES = {
  'parse-error': { code: -32700, http: 400 },
  'invalid-request': { code: -32600, http: 400 },
  'method-not-found': { code: -32601, http: 200, http2026: 404 },
  'invalid-params': { code: -32602, http: 200 },
  'tool-not-found': { code: -32602, http: 200 },
  'prompt-not-found': { code: -32602, http: 200 },
  'resource-not-found': { code: -32002, code2026: -32602, http: 200 },
  'nothing-to-subscribe': { code: -32602, http: 200 },
  'subscription-failed': { code: -31006, http: 200 },
  'project-not-found': { code: -32602, http: 200 },
  internal: { code: -32603, http: 200 },
  'server-unavailable': { code: -31003, http: 200 },
  timeout: { code: -31008, http: 200 },
  cancelled: { code: -31099, http: 200 },
  'response-lost': { code: -31009, http: 200 },
  overloaded: { code: -31029, http: 200 },
  'limit-exceeded': { code: -31029, http: 200 },
  'too-many-connections': { code: -31029, http: 429 },
  'bad-request': { code: -32000, code2026: -31400, http: 400 },
  'session-required': { code: -32000, code2026: -31400, http: 400 },
  'session-not-found': { code: -32001, code2026: -31404, http: 404 },
  unauthorized: { code: -32000, code2026: -31401, http: 401 },
  'insufficient-scope': { code: -32000, code2026: -31403, http: 403 },
  forbidden: { code: -32000, code2026: -31403, http: 403 },
  'method-not-allowed': { code: -32000, code2026: -31405, http: 405 },
  'not-acceptable': { code: -32000, code2026: -31406, http: 406 },
  'payload-too-large': { code: -32000, code2026: -31413, http: 413 },
  'unsupported-media-type': { code: -32000, code2026: -31415, http: 415 },
  'bad-envelope': { code: -32602, http: 400 },
  'header-mismatch': { code: -32020, http: 400 },
  'missing-capability': { code: -32021, http: 400 },
  'unsupported-version': { code: -32022, http: 400 },
  'storage-full': { code: -31007, http: 507 },
  'storage-unavailable': { code: -31005, http: 503 },
} as const satisfies Record<ErrorKind, ErrorCodes>;

export function codesFor(kind: ErrorKind, era: Era): { readonly code: number; readonly http: number } {
  const { code, code2026 = code, http, http2026 = http }: ErrorCodes = ERROR_CODES[kind];
  return era === '2026' ? { code: code2026, http: http2026 } : { code, http };
}

/** A failure that the gateway reports itself. The edge and the admin API map it to a response. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';

  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly data?: Readonly<Record<string, unknown>>,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** A JSON-RPC error of a server or client, forwarded unchanged. `text` is the error object as it was sent. */
export class RemoteError extends Error {
  override readonly name = 'RemoteError';

  constructor(
    readonly code: number,
    message: string,
    readonly text: string,
  ) {
    super(message);
  }
}

const MAX_QUOTED_LENGTH = 200;

/** Shortens a text that a client or server sent, such as a name, for use in a message or log line. It may be megabytes long. */
export const shorten = (text: string, maxLength = MAX_QUOTED_LENGTH): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')}…`;

export const unknownTool = (name: string): GatewayError =>
  new GatewayError('tool-not-found', `Unknown tool: ${shorten(name)}`);

export const unknownMethod = (method: string): GatewayError =>
  new GatewayError('method-not-found', `Method not found: ${shorten(method)}`);

/**
 * The error for a resource that does not exist in the scope. SDK clients recognise it by its `data`: exactly `{ uri }`.
 */
export const resourceNotFound = (uri: string): GatewayError =>
  new GatewayError('resource-not-found', `RESOURCE_NOT_FOUND: resource ${shorten(uri)} is not available`, {
    uri,
  });

/**
 * The error for a subscription to a resource that does not exist. Its message is that of `resourceNotFound`. Its code
 * is -32602 (invalid params) in every revision, because -32002 is the code of a failed read.
 */
export const nothingToSubscribe = (uri: string): GatewayError =>
  new GatewayError('nothing-to-subscribe', resourceNotFound(uri).message, { uri });

export const limitExceeded = (message: string, limit: number): GatewayError =>
  new GatewayError('limit-exceeded', `LimitExceeded: ${message}`, { code: 'LimitExceeded', limit });

/**
 * Why a server is not available. Errors contain this word in `data.reason`:
 * - `starting`: its link is being opened
 * - `unreachable`: no connection
 * - `unauthorized`: it refuses the credentials of the gateway
 * - `refused`: it answers with another HTTP error
 * - `crashed`: its process ended
 * - `unresponsive`: requests time out
 * - `broken`: the connection was lost, or a response was invalid
 * - `too-large`: it sent a message over the size limit
 * - `disabled`: it is not enabled, or it is being stopped
 * - `session-required`: it has `isolation: session`, and the client has neither a session nor credentials
 */
export type UnavailableReason =
  | 'starting'
  | 'unreachable'
  | 'unauthorized'
  | 'refused'
  | 'crashed'
  | 'unresponsive'
  | 'broken'
  | 'too-large'
  | 'disabled'
  | 'session-required';

/** The `retryAfterMs` of an error if the gateway cannot estimate when the server will be available. */
const DEFAULT_RETRY_AFTER_MS = 1000;

interface Unavailability extends ErrorOptions {
  readonly reason?: UnavailableReason;
  readonly retryAfterMs?: number | undefined;
}

/** The error for a request to a server that is not available. Clients recognise it by the first word of its message. */
export function serverUnavailable(
  server: string,
  explanation: string,
  { reason = 'unreachable', retryAfterMs = DEFAULT_RETRY_AFTER_MS, ...options }: Unavailability = {},
): GatewayError {
  const data = { code: 'SERVER_UNAVAILABLE', server, reason, retryAfterMs: Math.ceil(retryAfterMs) };
  const message = `SERVER_UNAVAILABLE: server ${server} is not available: ${explanation}`;
  return new GatewayError('server-unavailable', message, data, options);
}
