import { request, type ClientRequest } from 'node:http';
import type { Message } from './events.js';
import { bodyOf } from './http.js';
import { within } from './until.js';

const VERSION = '2026-07-28';
const META = 'io.modelcontextprotocol/';

interface ModernRequest {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface ModernAnswer {
  readonly status: number;
  /** The notifications before the response. */
  readonly notifications: readonly Message[];
  readonly result: Readonly<Record<string, unknown>> | undefined;
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } | undefined;
}

/** The response to one request, while it is open. */
export interface OpenResponse {
  readonly answer: Promise<ModernAnswer>;
  /** Closes the connection, as a client does that cancels the request. */
  close(): void;
}

/** A client of revision 2026-07-28 that answers no questions by itself. */
export class RawModernClient {
  private lastId = 0;

  constructor(
    private readonly url: string,
    private readonly capabilities: object = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} },
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  send(method: string, { params = {}, meta = {} }: ModernRequest = {}): OpenResponse {
    const id = ++this.lastId;
    const envelope = {
      [`${META}protocolVersion`]: VERSION,
      [`${META}clientCapabilities`]: this.capabilities,
    };
    const message = { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...envelope, ...meta } } };
    const name = params['name'] ?? params['uri'];
    const outgoing = request(this.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': VERSION,
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
        ...this.headers,
      },
    });
    const answer = within(`the answer to ${method}`, answerOf(outgoing), 30_000);
    // A closed response is an error only for a test that waits for it.
    answer.catch(() => {});
    outgoing.end(JSON.stringify(message));
    return { answer, close: () => void outgoing.destroy() };
  }

  callTool(
    name: string,
    args: object = {},
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<ModernAnswer> {
    return this.send('tools/call', { params: { name, arguments: args, ...more } }).answer;
  }
}

async function answerOf(outgoing: ClientRequest): Promise<ModernAnswer> {
  const response = await new Promise<Parameters<typeof bodyOf>[0] & { statusCode?: number }>(
    (resolve, reject) => outgoing.once('response', resolve).on('error', reject),
  );
  const text = await bodyOf(response);
  const isStream = response.headers['content-type'] === 'text/event-stream';
  const messages = (isStream ? dataLines(text) : [text]).map((each) => JSON.parse(each) as Message);
  const { result, error } = messages.at(-1) as ModernAnswer & Message;
  return { status: response.statusCode!, notifications: messages.slice(0, -1), result, error };
}

const dataLines = (text: string): string[] =>
  text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []));
