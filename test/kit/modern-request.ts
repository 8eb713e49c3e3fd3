import { exchange } from './http.js';
import { BOTH_TYPES, messageIn } from './raw-session.js';

/** The revision without sessions. */
export const MODERN_REVISION = '2026-07-28';

/** The prefix of the keys of the envelope. */
export const ENVELOPE_KEY = 'io.modelcontextprotocol/';

/** The id of every request. */
const ID = 'request-7';

/** The envelope of a request with these members replaced. One that is undefined is left out. */
export function envelope(members: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const all = {
    protocolVersion: MODERN_REVISION,
    clientInfo: { name: 'raw', version: '1' },
    clientCapabilities: {},
    ...members,
  };
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [ENVELOPE_KEY + name, value]));
}

export interface ModernRequest {
  /** Default: tools/list. */
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** In place of the envelope. Undefined leaves `_meta` out. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** In place of the headers that follow from method and params. One that is undefined is left out. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  /** In place of the body that follows from the other members. */
  readonly body?: string;
}

export interface Outcome {
  readonly status: number;
  readonly text: string;
  readonly id: unknown;
  /** Of the error; undefined for a result. */
  readonly code: number | undefined;
  readonly data: unknown;
  readonly resultType: unknown;
  readonly sessionId: unknown;
}

/** The refusal of a request by the gateway. */
export const refused = (status: number, code: number): Partial<Outcome> => ({
  status,
  code,
  id: ID,
  sessionId: undefined,
});

/** A result. */
export const ANSWERED: Partial<Outcome> = {
  status: 200,
  code: undefined,
  id: ID,
  resultType: 'complete',
  sessionId: undefined,
};

export const modernBody = (method: string, params: object, meta: object | undefined): string =>
  JSON.stringify({ jsonrpc: '2.0', id: ID, method, params: { ...params, ...(meta && { _meta: meta }) } });

const isGiven = (header: [string, unknown]): header is [string, string] => header[1] !== undefined;

/** Posts a request of a conforming client of revision 2026-07-28, with the given parts replaced. */
export async function postModern(url: string, request: ModernRequest): Promise<Outcome> {
  const { method = 'tools/list', params = {}, headers = {} } = request;
  const meta = 'meta' in request ? request.meta : envelope();
  const name = params['name'] ?? params['uri'];
  const all = {
    accept: BOTH_TYPES,
    'content-type': 'application/json',
    'mcp-protocol-version': MODERN_REVISION,
    'mcp-method': method,
    'mcp-name': typeof name === 'string' ? name : undefined,
    ...headers,
  };
  const given = Object.entries(all).filter(isGiven);
  const { body = modernBody(method, params, meta) } = request;
  const response = await exchange(url, { method: 'POST', headers: Object.fromEntries(given), body });
  const { id, error, result } = response.text === '' ? {} : messageIn(response.text);
  return {
    status: response.status,
    text: response.text,
    id,
    code: error?.code,
    data: error?.data,
    resultType: result?.['resultType'],
    sessionId: response.headers['mcp-session-id'],
  };
}

export const toolCall = (name: string, args: object = {}): Pick<ModernRequest, 'method' | 'params'> => ({
  method: 'tools/call',
  params: { name, arguments: args },
});
