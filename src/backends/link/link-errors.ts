import {
  ERROR_CODES,
  GatewayError,
  RemoteError,
  serverUnavailable,
  type UnavailableReason,
} from '../../core/errors.js';
import type { JsonProblem } from '../../lib/json-text/json-reader.js';
import type { JsonLimit } from '../../lib/json-text/json-scanner.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { ScannedObject } from '../../lib/json-text/scanned-object.js';
import { TransportError } from './transport.js';

const HEADER_MISMATCH = ERROR_CODES['header-mismatch'].code;

/** When a client should send a call again that the server has not read. */
const BUSY_RETRY_MS = 1000;

export const brokenError = (message: string, options?: ErrorOptions): TransportError =>
  new TransportError('broken', message, {}, options);

/** The server sent a message that is not JSON, or over a limit of JSON. */
export const unreadableMessage = ({ reason, message }: JsonProblem): TransportError =>
  isOverLimit(reason)
    ? new TransportError('too-large', `the server sent a message that ${message}`)
    : brokenError('the server sent invalid JSON');

export const isOverLimit = (reason: JsonProblem['reason']): reason is JsonLimit =>
  reason === 'depth' || reason === 'members' || reason === 'size';

/** `reason` of the cancelled signal: an error of the gateway if the gateway ended the request itself. */
export const cancelledError = (reason?: unknown): GatewayError =>
  reason instanceof GatewayError ? reason : new GatewayError('cancelled', 'The request was cancelled');

export const timeoutError = (server: string, method: string, timeoutMs: number): GatewayError =>
  new GatewayError('timeout', `TIMEOUT: server ${server} did not answer ${method} within ${timeoutMs} ms`, {
    code: 'TIMEOUT',
    server,
  });

export const isTimeout = (error: unknown): boolean =>
  error instanceof GatewayError && error.kind === 'timeout';

/** The server is reachable, but the session of the link has expired. The server has not executed the request. */
export const isSessionExpired = (error: unknown): boolean =>
  error instanceof TransportError && error.fault === 'session-expired';

export const isBadRequest = (error: unknown): boolean =>
  error instanceof TransportError && error.fault === 'refused' && error.details.httpStatus === 400;

/** Whether the server itself sent the HTTP error. An error of 500 and above may come from a proxy in front of the server. */
export const isRefusedByServer = ({ fault, details }: TransportError): boolean =>
  fault === 'refused' && (details.httpStatus ?? 500) < 500;

/** A server of 2026 refused the headers of a request. It has not executed the request. */
export const headersRefused = (refusal: RemoteError): TransportError =>
  new TransportError(
    'refused',
    `it refused the headers of the request: ${refusal.message}`,
    {},
    { cause: refusal },
  );

export const isHeaderMismatch = (error: unknown): boolean =>
  error instanceof RemoteError && error.code === HEADER_MISMATCH;

/** Whether a call failed with `headersRefused`. */
export const hasRefusedHeaders = (error: unknown): boolean =>
  error instanceof GatewayError &&
  error.cause instanceof TransportError &&
  isHeaderMismatch(error.cause.cause);

/** Errors that are not of a transport count as `broken`. */
export const toTransportError = (error: Error): TransportError =>
  error instanceof TransportError ? error : brokenError(error.message, { cause: error });

/** Why a link failed or could not be opened, as a word for clients. */
export function unavailableReason(error: unknown): UnavailableReason {
  if (isTimeout(error)) return 'unresponsive';
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(error instanceof TransportError)) return cause ? unavailableReason(cause) : 'unreachable';
  const { fault, details } = error;
  if (details.hasExited) return 'crashed';
  if (details.httpStatus === 401 || details.httpStatus === 403) return 'unauthorized';
  // The error of a request in flight has the failure of its link as cause.
  if (cause instanceof TransportError) return unavailableReason(cause);
  return fault === 'busy' || fault === 'session-expired' ? 'unreachable' : fault;
}

/** The error that a client gets for a transport error; any other error is passed on unchanged. */
export function toCallError(server: string, error: unknown): unknown {
  if (!(error instanceof TransportError)) return error;
  const { retryAfterMs } = error.details;
  if (error.fault !== 'busy') {
    const reason = unavailableReason(error);
    return serverUnavailable(server, error.message, { reason, retryAfterMs, cause: error });
  }
  const data = { code: 'Overloaded', server, retryAfterMs: BUSY_RETRY_MS };
  return new GatewayError('overloaded', `Overloaded: server ${server} ${error.message}`, data, {
    cause: error,
  });
}

/** A longer error is forwarded without its data, which would be decoded, searched for URIs and encoded in one slice. */
const MAX_ERROR_BYTES = 1_048_576;

export const isLongError = (json: JsonText): json is ScannedObject =>
  json instanceof ScannedObject && json.bytes.length > MAX_ERROR_BYTES;

/** The error of a JSON-RPC response. One without a valid code and message is not forwarded: clients could not parse it. */
export function remoteError(json: JsonText): Error {
  const isLong = isLongError(json);
  if (isLong && json.bytesOf('message') > MAX_ERROR_BYTES)
    return brokenError(
      `the server sent an invalid response: the message of an error has more than ${MAX_ERROR_BYTES} bytes`,
    );
  const { code, message } = json.value as { code: unknown; message: unknown };
  return Number.isInteger(code) && typeof message === 'string'
    ? new RemoteError(code as number, message, isLong ? JSON.stringify({ code, message }) : json.text)
    : brokenError('the server sent an invalid response: an error must have a code and a message');
}
