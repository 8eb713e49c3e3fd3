import { STATUS_CODES } from 'node:http';
import { brokenError } from '../link/link-errors.js';
import { TransportError } from '../link/transport.js';
import { headerOf, type ResponseHeaders } from './post-client/response-head.js';

/** A message exceeds the size limit of the transport, which stopped reading. */
export const tooLarge = (limit: number): TransportError =>
  new TransportError('too-large', `the server sent a message of more than ${limit} bytes`, {
    isUnread: true,
  });

export const sessionExpired = (): TransportError =>
  new TransportError('session-expired', 'the session has expired', { httpStatus: 404 });

export const transportClosed = (): TransportError => brokenError('the transport is closed');

/** The report of an unreadable message on a stream. The stream continues. */
export const messageIgnored = (cause: unknown): Error =>
  new Error(`message ignored: ${(cause as Error).message}`, { cause });

/** The request was not sent. */
export const cannotConnect = (cause: Error): TransportError =>
  new TransportError('unreachable', `cannot connect: ${reason(cause)}`, {}, { cause });

/** The request was written to a connection, so the server may have executed it. */
export const connectionLost = (cause: Error): TransportError =>
  brokenError(`the connection was lost before the response: ${reason(cause)}`, { cause });

export function httpError(status: number, headers: ResponseHeaders): TransportError {
  const retryAfterMs = retryAfter(headerOf(headers, 'retry-after'));
  const parts = [`HTTP ${status}`, STATUS_CODES[status], redirection(status, headers)];
  return new TransportError('refused', parts.filter(Boolean).join(' '), {
    httpStatus: status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** The error code, if the cause has one: the message of a system error contains an address, which clients must not see. */
function reason(cause: Error & { code?: unknown }): string {
  return typeof cause.code === 'string' && cause.code !== 'UND_ERR_SOCKET' ? cause.code : cause.message;
}

/** Names the target of a redirect. Redirects are never followed: only the configured server may get credentials and messages. */
function redirection(status: number, headers: ResponseHeaders): string | undefined {
  const location = headerOf(headers, 'location');
  if (status >= 400 || location === undefined) return undefined;
  return `to ${location.split('?', 1)[0]?.slice(0, 200)}, which is not followed`;
}

/** The milliseconds to wait. The value of the header is a number of seconds, or a date. */
function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value) * 1000;
  const at = /^[A-Z]/i.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
