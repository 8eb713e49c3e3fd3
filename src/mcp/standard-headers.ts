import { GatewayError } from '../core/errors.js';
import { TextCache } from '../lib/json-text/text-cache.js';
import type { Params } from './json-rpc.js';

/*
 * Revision 2026-07-28 over HTTP: each request has headers that repeat parts of its body, so that intermediaries can route it
 * without reading the body.
 */

/** The header fields of an HTTP request, by their names in lower case. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** By method: the member of the params that the header Mcp-Name repeats. */
const NAME_MEMBERS: ReadonlyMap<string, 'name' | 'uri'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

export const nameMemberOf = (method: string): 'name' | 'uri' | undefined => NAME_MEMBERS.get(method);

/** A value that needs no encoding: visible ASCII, with spaces and tabs inside only. An HTTP parser removes them at the ends. */
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** A value that is encoded in base64. */
const ENCODED = /^=\?base64\?.*\?=$/;
const ENCODED_PREFIX_LENGTH = '=?base64?'.length;
const ENCODED_SUFFIX_LENGTH = '?='.length;
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A text as a header value. A text that HTTP would change, or that looks encoded, is encoded as UTF-8 in base64. */
export const headerValue = (text: string): string =>
  PLAIN.test(text) && !ENCODED.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** The lines of the headers Mcp-Method and Mcp-Name. `name` is the tool, prompt or resource of the request. */
export const standardHeaders = (method: string, name: string | undefined): string =>
  name === undefined ? `mcp-method: ${method}\r\n` : `mcp-method: ${method}\r\n${nameLines.get(name)}`;

/** Caches the lines of the header Mcp-Name. */
const nameLines = new TextCache((name) => `mcp-name: ${headerValue(name)}\r\n`, { texts: 1024, length: 256 });

/** Throws unless the header Mcp-Method is the method of the body. */
export function requireMethodHeader(method: string, { 'mcp-method': header }: HttpHeaders): void {
  if (header !== method) throw headerMismatch('Mcp-Method must be the method of the body');
}

/**
 * Throws unless the header Mcp-Name is the name or URI in the params. Checks nothing if the params have no name or URI: if the
 * method requires one, its handler refuses the params.
 */
export function requireNameHeader(
  method: string,
  params: Params | undefined,
  { 'mcp-name': header }: HttpHeaders,
): void {
  const member = nameMemberOf(method);
  const value = member && params?.[member];
  if (typeof value === 'string' && textOfHeader(header) !== value)
    throw headerMismatch(`Mcp-Name must be the ${member} in the params`);
}

/** The text of a header value; undefined if there is no header, or its base64 is not valid. */
export function textOfHeader(value: HttpHeaders[string]): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (!value.startsWith('=?') || !ENCODED.test(value)) return value;
  const base64 = value.slice(ENCODED_PREFIX_LENGTH, -ENCODED_SUFFIX_LENGTH);
  const bytes = Buffer.from(base64, 'base64');
  // Buffer.from skips characters that are not base64.
  if (bytes.toString('base64') !== base64) return undefined;
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

export const headerMismatch = (problem: string): GatewayError =>
  new GatewayError('header-mismatch', `The headers and the body do not agree: ${problem}`);
