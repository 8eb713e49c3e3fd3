import { GatewayError } from '../core/errors.js';
import type { Params } from './json-rpc.js';

/*
 * Revision 2026-07-28 over HTTP: each request has headers that repeat parts of its body, so that intermediaries can route it
 * without reading the body.
 */

/** The header fields of an HTTP request, by their names in lower case. */
export type HttpHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** By method: the member of the params whose value is the header Mcp-Name. */
const NAME_MEMBERS: ReadonlyMap<string, 'name' | 'uri'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

export const nameMemberOf = (method: string): 'name' | 'uri' | undefined => NAME_MEMBERS.get(method);

/** Visible ASCII, with spaces and tabs between but not around it: an HTTP parser removes those. */
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
const SENTINEL = /^=\?base64\?.*\?=$/;
const SENTINEL_START = '=?base64?'.length;
const SENTINEL_END = '?='.length;
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A text as a header value. What HTTP would change, or what looks encoded, is encoded as UTF-8 in base64. */
export const headerValue = (text: string): string =>
  PLAIN.test(text) && !SENTINEL.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** The lines of the headers Mcp-Method and Mcp-Name. `name` is the tool, prompt or resource of the request. */
export const standardHeaders = (method: string, name: string | undefined): string =>
  name === undefined
    ? `mcp-method: ${method}\r\n`
    : `mcp-method: ${method}\r\nmcp-name: ${headerValue(name)}\r\n`;

/** The header Mcp-Method must be present and have the method of the body. */
export function requireMethodHeader(method: string, { 'mcp-method': header }: HttpHeaders): void {
  if (header !== method) throw headerMismatch('Mcp-Method must be the method of the body');
}

/** The header Mcp-Name must have the name or URI in the params. Params without one are refused by the handler. */
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
  if (typeof value !== 'string' || !SENTINEL.test(value))
    return typeof value === 'string' ? value : undefined;
  const encoded = value.slice(SENTINEL_START, -SENTINEL_END);
  const bytes = Buffer.from(encoded, 'base64');
  // Buffer ignores what is not base64.
  if (bytes.toString('base64') !== encoded) return undefined;
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

export const headerMismatch = (problem: string): GatewayError =>
  new GatewayError('header-mismatch', `The headers and the body do not agree: ${problem}`);
