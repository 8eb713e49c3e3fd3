export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface ResponseHead {
  readonly status: number;
  /** Names are in lower case. A repeated field is an array. */
  readonly headers: ResponseHeaders;
  /** The number of bytes of the body or, if the head does not state it, what ends the body: its last chunk, or the connection. */
  readonly bodyLength: number | 'chunked' | 'until-close';
  /** Whether the server keeps the connection open for another request. */
  readonly isPersistent: boolean;
  /** The idle timeout of the connection, if the server announces one. */
  readonly keepAliveMs: number | undefined;
}

const TEXT = String.raw`[\t -~\x80-\xff]*`;
const FIELD_LINE = "[!#$%&'*+.^_`|~\\w-]+:" + TEXT;
/** Status line and fields. Obsolete line folding (RFC 9112, 5.2) does not match. Matching takes linear time. */
const HEAD = new RegExp(String.raw`^HTTP/1\.[01] [1-9]\d\d(?: ${TEXT})?(?:\r\n${FIELD_LINE})*$`);
const FIELD = new RegExp(`^${FIELD_LINE}$`);
const CONTENT_LENGTH = /^\d{1,15}$/;
const CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const KEEP_ALIVE = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i;
const TIMEOUT = /(?:^|[,;])[ \t]*timeout=(\d{1,5})/i;

/**
 * Parses the text before the empty line. Throws if two HTTP parsers could infer different ends of the response from this head:
 * bytes of the body could then be taken for the next response and reach the wrong caller.
 */
export function parseResponseHead(text: string): ResponseHead {
  if (!HEAD.test(text)) throw new Error('the response is not HTTP/1.1');
  const statusStart = 'HTTP/1.1 '.length;
  const status = Number(text.slice(statusStart, statusStart + 3));
  const headers = parseFields(text);
  const isHttp11 = text.startsWith('HTTP/1.1');
  const bodyLength = bodyLengthOf(status, headers, isHttp11);
  return {
    status,
    headers,
    bodyLength,
    isPersistent: bodyLength !== 'until-close' && isKeptOpen(headers, isHttp11),
    keepAliveMs: keepAliveOf(headers),
  };
}

/** Whether a line is a header or trailer field. */
export const isField = (line: string): boolean => FIELD.test(line);

/** The first value of a field that the server may have repeated. */
export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The content type in lower case and without parameters, such as `application/json`; empty when the response has none. */
export function mediaTypeOf(headers: ResponseHeaders): string {
  const value = headerOf(headers, 'content-type') ?? '';
  const end = value.indexOf(';');
  return (end === -1 ? value : value.slice(0, end)).trim().toLowerCase();
}

/** Whether the body is compressed. */
export function isEncoded(headers: ResponseHeaders): boolean {
  const encoding = headerOf(headers, 'content-encoding');
  return encoding !== undefined && encoding.toLowerCase() !== 'identity';
}

function parseFields(text: string): ResponseHeaders {
  // No prototype: `constructor` is a valid field name.
  const headers = Object.create(null) as Record<string, string | string[]>;
  let end = lineEnd(text, 0);
  while (end < text.length) {
    const start = end + 2;
    end = lineEnd(text, start);
    const colon = text.indexOf(':', start);
    const name = text.slice(start, colon).toLowerCase();
    const value = trimmed(text, colon + 1, end);
    const earlier = headers[name];
    if (earlier === undefined) headers[name] = value;
    else if (Array.isArray(earlier)) earlier.push(value);
    else headers[name] = [earlier, value];
  }
  return headers;
}

function bodyLengthOf(
  status: number,
  headers: ResponseHeaders,
  isHttp11: boolean,
): ResponseHead['bodyLength'] {
  const length = headers['content-length'];
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined) {
    if (length !== undefined) throw new Error('the response has two lengths');
    if (!isHttp11 || typeof encoding !== 'string' || encoding.toLowerCase() !== 'chunked')
      throw new Error('the response has a transfer encoding other than chunked');
  }
  if (length !== undefined && (typeof length !== 'string' || !CONTENT_LENGTH.test(length)))
    throw new Error('the response has an invalid length');
  if (status < 200 || status === 204 || status === 304) return 0;
  if (encoding !== undefined) return 'chunked';
  return length === undefined ? 'until-close' : Number(length);
}

/** Without a `connection` field, the connection stays open in HTTP/1.1 and is closed in HTTP/1.0. */
function isKeptOpen(headers: ResponseHeaders, isHttp11: boolean): boolean {
  const connection = joined(headers['connection']);
  return isHttp11 ? !CLOSE.test(connection) : KEEP_ALIVE.test(connection);
}

function keepAliveOf(headers: ResponseHeaders): number | undefined {
  const seconds = TIMEOUT.exec(joined(headers['keep-alive']))?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

const joined = (value: string | string[] = ''): string => (Array.isArray(value) ? value.join() : value);

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\r\n', from);
  return end === -1 ? text.length : end;
}

/** Removes spaces and tabs at both ends. HTTP allows no other white space there. */
function trimmed(text: string, start: number, end: number): string {
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;
