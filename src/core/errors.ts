/** Every way a request can fail. A kind says what happened; the table below says how a client is told. */
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
  | 'overloaded'
  | 'limit-exceeded'
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
  | 'draining'
  | 'storage-full'
  | 'storage-unavailable';

/** The two kinds of MCP that there are: with sessions, and without. They differ in some numbers. */
export type Era = '2025' | '2026';

/** The JSON-RPC code, and the HTTP status where the failure is one of the exchange and not of the method. */
interface Answer {
  readonly code: number;
  /** Where the revisions of 2026 have another. */
  readonly code2026?: number;
  /** 200 means: the exchange went well, the method did not. SDK clients only read such errors from a 200. */
  readonly http: number;
}

/**
 * The one place where a kind becomes a number. Codes of our own lie below -31000, because the protocol keeps
 * -32768…-32000 to itself; -32000 and -32001 stand where every SDK server uses them for the HTTP exchange.
 */
export const ERROR_CODES = {
  'parse-error': { code: -32700, http: 400 },
  'invalid-request': { code: -32600, http: 400 },
  'method-not-found': { code: -32601, http: 200 },
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
  overloaded: { code: -31029, http: 200 },
  'limit-exceeded': { code: -31029, http: 200 },
  'bad-request': { code: -32000, http: 400 },
  'session-required': { code: -32000, http: 400 },
  'session-not-found': { code: -32001, http: 404 },
  unauthorized: { code: -32000, http: 401 },
  'insufficient-scope': { code: -32000, http: 403 },
  forbidden: { code: -32000, http: 403 },
  'method-not-allowed': { code: -32000, http: 405 },
  'not-acceptable': { code: -32000, http: 406 },
  'payload-too-large': { code: -32000, http: 413 },
  'unsupported-media-type': { code: -32000, http: 415 },
  draining: { code: -32000, http: 503 },
  'storage-full': { code: -31007, http: 507 },
  'storage-unavailable': { code: -31005, http: 503 },
} as const satisfies Record<ErrorKind, Answer>;

export function answerTo(kind: ErrorKind, era: Era): { readonly code: number; readonly http: number } {
  const { code, code2026, http }: Answer = ERROR_CODES[kind];
  return { code: era === '2026' ? (code2026 ?? code) : code, http };
}

/** A failure of the gateway's own making. Thrown anywhere; only the edges turn it into an answer. */
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

/** The other side's own JSON-RPC error. It keeps its code, message and data; `text` is the error object as sent. */
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

/** What a read of something that is nowhere to be seen gets. SDK clients know it by `data`, which has to be just this. */
export const resourceNotFound = (uri: string): GatewayError =>
  new GatewayError('resource-not-found', `RESOURCE_NOT_FOUND: resource ${uri} is not available`, { uri });

/** The same words for a subscription, which has a code of its own. */
export const nothingToSubscribe = (uri: string): GatewayError =>
  new GatewayError('nothing-to-subscribe', resourceNotFound(uri).message, { uri });

export const limitExceeded = (what: string, limit: number): GatewayError =>
  new GatewayError('limit-exceeded', `LimitExceeded: ${what}`, { code: 'LimitExceeded', limit });

/** What a call to a server gets when there is no link to it. The words are the contract's. */
export const serverUnavailable = (server: string, why: string, options?: ErrorOptions): GatewayError =>
  new GatewayError(
    'server-unavailable',
    `SERVER_UNAVAILABLE: server ${server} is not available: ${why}`,
    { code: 'SERVER_UNAVAILABLE', server },
    options,
  );
