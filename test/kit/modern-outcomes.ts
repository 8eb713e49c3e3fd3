import { postModern, type ModernOptions } from './modern-calls.js';
import { messageIn } from './raw-session.js';

/** A request of revision 2026-07-28 with the changes of the test. Without `method`, it is `tools/list`. */
export interface ModernRequest extends ModernOptions {
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface Outcome {
  readonly status: number;
  readonly text: string;
  readonly id: unknown;
  /** The code of the error; undefined for a result. */
  readonly code: number | undefined;
  readonly data: unknown;
  readonly resultType: unknown;
  readonly sessionId: unknown;
}

const ID = 'request-7';

/** Sends a request and reads how it was answered. */
export async function outcomeOf(url: string, request: ModernRequest): Promise<Outcome> {
  const { method = 'tools/list', params, ...options } = request;
  const { status, text, headers } = await postModern(url, method, params, { id: ID, ...options });
  const { id, error, result } = text === '' ? {} : messageIn(text);
  return {
    status,
    text,
    id,
    code: error?.code,
    data: error?.data,
    resultType: result?.['resultType'],
    sessionId: headers['mcp-session-id'],
  };
}

/** The outcome of a request that the gateway refuses. */
export const refused = (status: number, code: number): Partial<Outcome> => ({
  status,
  code,
  id: ID,
  sessionId: undefined,
});

/** The outcome of a request that has a complete result. */
export const ANSWERED: Partial<Outcome> = {
  status: 200,
  code: undefined,
  id: ID,
  resultType: 'complete',
  sessionId: undefined,
};

/** The body of a request without an envelope, with its params as text. */
export const bodyWith = (method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":"${ID}","method":"${method}","params":${params}}`;

export const toolCall = (name: string, args: object = {}): Pick<ModernRequest, 'method' | 'params'> => ({
  method: 'tools/call',
  params: { name, arguments: args },
});
