import { createHash } from 'node:crypto';
import { expressionEnd } from '../../lib/uri-template/uri-template.js';

/** The form of public URIs in lists. Requests may use every form, whatever the style is. */
export type ResourceStyle = 'resource' | 'underscore' | 'original';

/** Identifies a resource by its server and own URI. */
export interface ResourceAddress {
  readonly server: string;
  readonly uri: string;
}

/** Maximum size of a URI in UTF-8. */
export const MAX_URI_BYTES = 8192;

export const isUriTooLong = (uri: string): boolean => Buffer.byteLength(uri) > MAX_URI_BYTES;

const RESOURCE_SCHEME = 'resource://';
/** Hosts of MCP apps recognise user interfaces by this scheme, so every style keeps it. */
const UI_SCHEME = 'ui://';

export const isUi = (uri: string): boolean => uri.startsWith(UI_SCHEME);

/**
 * The resource form of an own URI: `resource://`, the server id, `/` and the whole own URI. For a user interface:
 * `ui://`, the server id, `/` and the own URI without its scheme.
 */
export function resourceForm({ server, uri }: ResourceAddress): string {
  return isUi(uri)
    ? `${UI_SCHEME}${server}/${uri.slice(UI_SCHEME.length)}`
    : `${RESOURCE_SCHEME}${server}/${uri}`;
}

/**
 * The address in a text that has the resource form; undefined for any other text. Does not check that the server
 * exists.
 */
export function parseResourceForm(text: string): ResourceAddress | undefined {
  const scheme = [RESOURCE_SCHEME, UI_SCHEME].find((candidate) => text.startsWith(candidate));
  if (scheme === undefined) return undefined;
  const slash = text.indexOf('/', scheme.length);
  if (slash <= scheme.length) return undefined;
  const rest = text.slice(slash + 1);
  return {
    server: text.slice(scheme.length, slash),
    uri: scheme === UI_SCHEME ? `${UI_SCHEME}${rest}` : rest,
  };
}

const SLASH = 0x2f;
const UNDERSCORE = 0x5f;
const OPEN_BRACE = 0x7b;

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;

/** By character code: 1 if an identifier may contain the character. An array, because every character is looked up. */
const IS_ID_CHARACTER = new Uint8Array(0x10000);
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-')
  IS_ID_CHARACTER[character.charCodeAt(0)] = 1;

/**
 * The identifier of a resource or template, such as `fs_file___logs_app.log` for `file:///logs/app.log` of server `fs`.
 * The URI cannot be computed from the identifier. The code writes into a Buffer, because a list may have a million
 * identifiers and V8 keeps the pieces of a concatenated string in memory.
 */
export function underscoreId({ server, uri }: ResourceAddress): string {
  const id = Buffer.allocUnsafe(server.length + uri.length + '____'.length);
  const colon = SCHEME.test(uri) ? uri.indexOf(':') : -1;
  let rest = colon + 1;
  while (uri.charCodeAt(rest) === SLASH) rest++;

  let length = write(id, 0, server);
  length = write(id, length, '_');
  length = writeIdText(id, length, uri, 0, colon);
  length = write(id, length, '___');
  length = writeIdText(id, length, uri, rest, uri.length);
  return id.toString('latin1', 0, length);
}

/**
 * Writes the part of `text` between `from` and `to`. Template expressions and identifier characters are copied. Every
 * run of other characters becomes one underscore. Returns the position in `id` after the written text.
 */
function writeIdText(id: Buffer, start: number, text: string, from: number, to: number): number {
  let length = start;
  let isInRun = false;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    const endOfExpression = code === OPEN_BRACE ? expressionEnd(text, at) : -1;
    if (endOfExpression !== -1) {
      length = write(id, length, text.slice(at, endOfExpression));
      at = endOfExpression - 1;
      isInRun = false;
    } else if (IS_ID_CHARACTER[code] === 1) {
      id[length++] = code;
      isInRun = false;
    } else {
      if (!isInRun) id[length++] = UNDERSCORE;
      isInRun = true;
    }
  }
  return length;
}

function write(id: Buffer, start: number, text: string): number {
  for (let at = 0; at < text.length; at++) id[start + at] = text.charCodeAt(at);
  return start + text.length;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** The identifier with a digest of the URI. It distinguishes resources whose identifiers would be equal. */
export function distinctId(address: ResourceAddress, digits = 8): string {
  // In UTF-8, all lone surrogates have the same encoding, so that different URIs would have the same digest.
  const encoding = LONE_SURROGATE.test(address.uri) ? 'utf16le' : 'utf8';
  const digest = createHash('sha256').update(address.uri, encoding).digest('hex');
  return `${underscoreId(address)}~${digest.slice(0, digits)}`;
}

/** The identifier without its digest. Does not check that the text is an identifier: callers look up the result. */
export const withoutDigest = (id: string): string => id.replace(/~[^~]*$/, '');
