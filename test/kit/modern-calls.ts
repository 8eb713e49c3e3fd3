import { Events, type Message } from './events.js';
import { bodyOf, exchange, openExchange, type RawResponse } from './http.js';
import { BOTH_TYPES, messageIn } from './raw-session.js';

export const MODERN_VERSION = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';

export interface ModernOptions {
  readonly id?: string | number;
  /** Replaces or adds headers; undefined removes one. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  /** Replaces or adds members of the envelope; undefined removes one. */
  readonly envelope?: Readonly<Record<string, unknown>>;
  /** Further members of `_meta`. */
  readonly meta?: object;
  /** In place of the body that follows from method, params and envelope. */
  readonly body?: string;
}

/** The `_meta` of a request. */
export function envelopeOf({ envelope = {}, meta = {} }: ModernOptions = {}): object {
  const members = {
    protocolVersion: MODERN_VERSION,
    clientInfo: { name: 'raw', version: '2' },
    clientCapabilities: {},
    ...envelope,
  };
  const prefixed = Object.entries(members).map(([key, value]) => [`${PREFIX}${key}`, value]);
  return { ...(Object.fromEntries(prefixed) as object), ...meta };
}

/** The headers of a conforming client. */
function headersOf(
  method: string,
  params: Readonly<Record<string, unknown>>,
  more: ModernOptions['headers'] = {},
): Record<string, string> {
  const name = params['name'] ?? params['uri'];
  const headers = {
    accept: BOTH_TYPES,
    'content-type': 'application/json',
    'mcp-protocol-version': MODERN_VERSION,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
    ...more,
  };
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** The HTTP request of a conforming client, with the changes of the options. */
export function modernRequestOf(
  method: string,
  params: Readonly<Record<string, unknown>>,
  options: ModernOptions,
): { method: 'POST'; headers: Record<string, string>; body: string } {
  const { id = 1, headers } = options;
  const all = { ...params, _meta: envelopeOf(options) };
  const { body = JSON.stringify({ jsonrpc: '2.0', id, method, params: all }) } = options;
  return { method: 'POST', headers: headersOf(method, params, headers), body };
}

/** Sends a request of revision 2026-07-28 without an SDK, and reads the whole response. */
export const postModern = (
  url: string,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  options: ModernOptions = {},
): Promise<RawResponse> => exchange(url, modernRequestOf(method, params, options));

/** Sends a request, and returns the message in its JSON response. */
export const callModern = async (...args: Parameters<typeof postModern>): Promise<Message> =>
  messageIn((await postModern(...args)).text);

/** Sends a request whose response is an event stream. */
export async function streamModern(...args: Parameters<typeof postModern>): Promise<Events> {
  const [url, method, params = {}, options = {}] = args;
  const response = await openExchange(url, modernRequestOf(method, params, options));
  if (response.headers['content-type']?.startsWith('text/event-stream')) return new Events(response);
  throw new Error(`answered with JSON: ${await bodyOf(response)}`);
}
