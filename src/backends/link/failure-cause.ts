import { serverUnavailable, type GatewayError } from '../../core/errors.js';
import { isTimeout } from './link-errors.js';
import { TransportError } from './transport.js';

/**
 * Why a link was lost or could not be opened, for operators.
 * - `unauthorized`: the server refuses the credentials of the gateway
 * - `not-found`: the URL, or the command, does not exist
 * - `unreachable`: no connection, or no valid response
 * - `crashed`: the process has ended
 * - `unresponsive`: the server does not answer
 */
export type FailureCause = 'unauthorized' | 'not-found' | 'unreachable' | 'crashed' | 'unresponsive';

/** Texts for clients about a server that cannot be used. They reveal no address, no command and no output of the server. */
const DESCRIPTIONS = {
  starting: 'it is starting',
  unreachable: 'it cannot be reached',
  unauthorized: 'it refuses the credentials of the gateway',
  crashed: 'its process has ended',
  unresponsive: 'it does not answer',
  disabled: 'it was disabled',
} as const;

/** Why a link with this error was lost or could not be opened. */
export function failureCauseOf(error: unknown): FailureCause {
  if (isTimeout(error)) return 'unresponsive';
  const innerError = error instanceof Error ? error.cause : undefined;
  if (!(error instanceof TransportError)) return innerError ? failureCauseOf(innerError) : 'unreachable';
  const { fault, details } = error;
  if (details.hasExited) return 'crashed';
  if (fault === 'busy') return 'unresponsive';
  if (details.httpStatus === 401 || details.httpStatus === 403) return 'unauthorized';
  if (isNotFound(error)) return 'not-found';
  // The error of a request in flight wraps the failure of its link (`Error.cause`).
  return innerError instanceof TransportError ? failureCauseOf(innerError) : 'unreachable';
}

const isNotFound = ({ fault, details }: TransportError): boolean =>
  details.spawnCode === 'ENOENT' || (fault === 'refused' && details.httpStatus === 404);

/** The error for a call to a server that is starting or down. */
export function downError(
  server: string,
  cause: FailureCause | 'starting' | 'disabled',
  options: ErrorOptions & { readonly retryAfterMs?: number | undefined } = {},
): GatewayError {
  const reason = cause === 'not-found' ? 'unreachable' : cause;
  return serverUnavailable(server, DESCRIPTIONS[reason], { ...options, reason });
}
