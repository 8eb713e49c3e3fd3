/*
 * Revision 2026-07-28 over HTTP: each request has headers that repeat parts of its body, so that intermediaries can route it
 * without reading the body.
 */

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

/** A text as a header value. What HTTP would change, or what looks encoded, is encoded as UTF-8 in base64. */
export const headerValue = (text: string): string =>
  PLAIN.test(text) && !SENTINEL.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** The lines of the headers Mcp-Method and Mcp-Name. `name` is the tool, prompt or resource of the request. */
export const standardHeaders = (method: string, name: string | undefined): string =>
  name === undefined
    ? `mcp-method: ${method}\r\n`
    : `mcp-method: ${method}\r\nmcp-name: ${headerValue(name)}\r\n`;
