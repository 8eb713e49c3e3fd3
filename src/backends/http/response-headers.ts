import { STATUS_CODES } from 'node:http';
import { TransportError } from '../link/transport.js';

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** `application/json` of `Application/JSON; charset=utf-8`; empty when the response names none. */
export function mediaType(headers: ResponseHeaders): string {
  const value = headerOf(headers, 'content-type') ?? '';
  const end = value.indexOf(';');
  return (end === -1 ? value : value.slice(0, end)).trim().toLowerCase();
}

export function isEncoded(headers: ResponseHeaders): boolean {
  const encoding = headerOf(headers, 'content-encoding');
  return encoding !== undefined && encoding.toLowerCase() !== 'identity';
}

export function refused(status: number, headers: ResponseHeaders): TransportError {
  const retryAfterMs = retryAfter(headerOf(headers, 'retry-after'));
  const words = [`HTTP ${status}`, STATUS_CODES[status], redirection(status, headers)];
  return new TransportError('refused', words.filter(Boolean).join(' '), {
    httpStatus: status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** A redirect is never followed: our headers and what we send are meant for the configured server alone. */
function redirection(status: number, headers: ResponseHeaders): string | undefined {
  const location = headerOf(headers, 'location');
  if (status >= 400 || location === undefined) return undefined;
  return `to ${location.split('?', 1)[0]?.slice(0, 200)}, which is not followed`;
}

/** Seconds or a date. */
function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value) * 1000;
  const at = /^[A-Z]/i.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
