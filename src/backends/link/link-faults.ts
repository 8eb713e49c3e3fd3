import { GatewayError, RemoteError } from '../../core/errors.js';
import { TransportError } from './transport.js';

export const brokenError = (message: string, options?: ErrorOptions): TransportError =>
  new TransportError('broken', message, {}, options);

export const cancelledError = (): GatewayError => new GatewayError('cancelled', 'The request was cancelled');

export const timeoutError = (server: string, method: string, timeoutMs: number): GatewayError =>
  new GatewayError('timeout', `TIMEOUT: server ${server} did not answer ${method} within ${timeoutMs} ms`, {
    code: 'TIMEOUT',
    server,
  });

export const toTransportError = (error: Error): TransportError =>
  error instanceof TransportError ? error : brokenError(error.message, { cause: error });

/** The server is there, but no longer knows us. */
export const isSessionExpired = (reason: Error | undefined): boolean =>
  reason instanceof TransportError && reason.fault === 'session-lost';

export const isBadRequest = (error: Error): boolean =>
  error instanceof TransportError && error.fault === 'refused' && error.details.httpStatus === 400;

/** An error object without code and message would be passed on as an answer that no client can read. */
export function remoteError(text: string): Error {
  const { code, message } = JSON.parse(text) as { code: unknown; message: unknown };
  return Number.isInteger(code) && typeof message === 'string'
    ? new RemoteError(code as number, message, text)
    : brokenError('the server sent no valid answer: an error has a code and a message');
}
