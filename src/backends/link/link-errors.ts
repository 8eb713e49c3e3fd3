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

/** The delay after which a client should repeat a call that the server has not read. */
const BUSY_RETRY_MS = 1000;

/**
 * The error with the fault `broken`: a message got no valid response, or the link, its connection or a stream has ended. The
 * server may have executed the message.
 */
export const brokenError = (message: string, options?: ErrorOptions): TransportError =>
  new TransportError('broken', message, {}, options);

/** The error for a server's message, if the message is not JSON or exceeds a JSON limit. */
export const unreadableMessage = ({ reason, message }: JsonProblem): TransportError =>
  isOverLimit(reason)
    ? new TransportError('too-large', `the server sent a message that ${message}`)
    : brokenError('the server sent invalid JSON');

export const isOverLimit = (reason: JsonProblem['reason']): reason is JsonLimit =>
  reason === 'depth' || reason === 'members' || reason === 'size';

/** The error of a cancelled request. `reason` is that of the cancel signal: a GatewayError if the gateway ended the request. */
export const cancelledError = (reason?: unknown): GatewayError =>
  reason instanceof GatewayError ? reason : new GatewayError('cancelled', 'The request was cancelled');

export const timeoutError = (server: string, method: string, timeoutMs: number): GatewayError =>
  new GatewayError('timeout', `TIMEOUT: server ${server} did not answer ${method} within ${timeoutMs} ms`, {
    code: 'TIMEOUT',
    server,
  });

export const isTimeout = (error: unknown): boolean =>
  error instanceof GatewayError && error.kind === 'timeout';

/** Whether the session of the link has expired. The server is reachable then, and has not executed the request. */
export const isSessionExpired = (error: unknown): boolean =>
  error instanceof TransportError && error.fault === 'session-expired';

/** Whether the server has responded with HTTP 400. */
export const isBadRequest = (error: unknown): boolean =>
  error instanceof TransportError && error.fault === 'refused' && error.details.httpStatus === 400;

/** Whether the server itself has sent an HTTP error. A status of 500 or above may come from a proxy in front of the server. */
export const isRefusedByServer = ({ fault, details }: TransportError): boolean =>
  fault === 'refused' && (details.httpStatus ?? 500) < 500;

/** The error of a request whose headers a server of 2026 has refused. The server has not executed the request. */
export const headersRefused = (refusal: RemoteError): TransportError =>
  new TransportError(
    'refused',
    `it refused the headers of the request: ${refusal.message}`,
    {},
    { cause: refusal },
  );

/** Whether a server of 2026 has refused the headers of a request. */
export const isHeaderMismatch = (error: unknown): boolean =>
  error instanceof RemoteError && error.code === HEADER_MISMATCH;

/** Whether a call failed with `headersRefused`. */
export const hasRefusedHeaders = (error: unknown): boolean =>
  error instanceof GatewayError &&
  error.cause instanceof TransportError &&
  isHeaderMismatch(error.cause.cause);

/** The error itself, or a TransportError with the fault `broken` for an error of another class. */
export const toTransportError = (error: Error): TransportError =>
  error instanceof TransportError ? error : brokenError(error.message, { cause: error });

/** Why a link failed or could not be opened: the `reason` in the error data for clients. */
export function unavailableReason(error: unknown): UnavailableReason {
  if (isTimeout(error)) return 'unresponsive';
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(error instanceof TransportError)) return cause ? unavailableReason(cause) : 'unreachable';
  const { fault, details } = error;
  if (fault === 'too-large') return fault;
  if (details.hasExited) return 'crashed';
  if (details.httpStatus === 401 || details.httpStatus === 403) return 'unauthorized';
  // The error of a request in flight has the failure of its link as `cause`.
  if (cause instanceof TransportError) return unavailableReason(cause);
  return fault === 'busy' || fault === 'session-expired' ? 'unreachable' : fault;
}

/** The error that the client gets when its call fails with `error`. Any error other than a TransportError stays as it is. */
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

/**
 * A longer error is forwarded without its data. Otherwise the data would be decoded, searched for URIs and encoded without a
 * pause, and other work would wait.
 */
const MAX_ERROR_BYTES = 1_048_576;

export const isLongError = (json: JsonText): json is ScannedObject =>
  json instanceof ScannedObject && json.bytes.length > MAX_ERROR_BYTES;

/**
 * The error for an error response of a server. An error without a valid code and message is not forwarded, because clients
 * could not parse it.
 */
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
