import type { ResponseHeaders } from '../response-headers.js';

const TEXT = String.raw`[\t -~\x80-\xff]*`;
const NAMED = "[!#$%&'*+.^_`|~\\w-]+:" + TEXT;
/** A status line and fields, without the line breaks of RFC 9112 that went out of use: linear in its length. */
const HEAD = new RegExp(String.raw`^HTTP/1\.[01] [1-9]\d\d(?: ${TEXT})?(?:\r\n${NAMED})*$`);
export const FIELD = new RegExp(`^${NAMED}$`);
const LENGTH = /^\d{1,15}$/;
const CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const KEEP_ALIVE = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i;
const TIMEOUT = /(?:^|[,;])[ \t]*timeout=(\d{1,5})/i;

export interface ResponseHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** How many bytes, or how their end is told: by chunks, or by that of the connection. */
  readonly body: number | 'chunked' | 'rest';
  /** The connection can be used again. */
  readonly persistent: boolean;
  /** After how long it may be closed by the server, where it says so. */
  readonly keepAliveMs: number | undefined;
}

/**
 * Throws at whatever two readers could understand in two ways: what one of them takes for a body may be the next
 * response to the other, and that one is meant for somebody else.
 */
export function parseHead(text: string): ResponseHead {
  if (!HEAD.test(text)) throw new Error('the response is no HTTP/1.1');
  const status = Number(text.slice(9, 12));
  const headers = fieldsOf(text);
  const connection = joined(headers['connection']);
  const isCurrent = text.startsWith('HTTP/1.1');
  const body = bodyOf(status, headers, isCurrent);
  return {
    status,
    headers,
    body,
    persistent: body !== 'rest' && (isCurrent ? !CLOSE.test(connection) : KEEP_ALIVE.test(connection)),
    keepAliveMs: keepAliveOf(headers),
  };
}

function fieldsOf(text: string): ResponseHeaders {
  // Any word may be the name of a field, also one that every object knows.
  const headers = Object.create(null) as Record<string, string | string[]>;
  let end = lineEnd(text, 0);
  while (end < text.length) {
    const start = end + 2;
    end = lineEnd(text, start);
    const colon = text.indexOf(':', start);
    const name = text.slice(start, colon).toLowerCase();
    const value = trimmed(text, colon + 1, end);
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else headers[name] = [before, value];
  }
  return headers;
}

function bodyOf(status: number, headers: ResponseHeaders, isCurrent: boolean): ResponseHead['body'] {
  const length = headers['content-length'];
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined) {
    if (length !== undefined) throw new Error('the response has two lengths');
    if (!isCurrent || typeof encoding !== 'string' || encoding.toLowerCase() !== 'chunked')
      throw new Error('the response has an encoding that was not asked for');
  }
  if (length !== undefined && (typeof length !== 'string' || !LENGTH.test(length)))
    throw new Error('the length of the response cannot be read');
  if (status < 200 || status === 204 || status === 304) return 0;
  if (encoding !== undefined) return 'chunked';
  return length === undefined ? 'rest' : Number(length);
}

function keepAliveOf(headers: ResponseHeaders): number | undefined {
  const seconds = TIMEOUT.exec(joined(headers['keep-alive']))?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

const joined = (value: string | string[] | undefined): string =>
  value === undefined ? '' : Array.isArray(value) ? value.join() : value;

function lineEnd(text: string, from: number): number {
  const at = text.indexOf('\r\n', from);
  return at === -1 ? text.length : at;
}

/** Of spaces and tabs: those are the only ones HTTP allows for. */
function trimmed(text: string, start: number, end: number): string {
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;
