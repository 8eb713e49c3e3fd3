import { request, type ClientRequest } from 'node:http';
import type { Message } from './events.js';
import { bodyOf } from './http.js';
import { modernRequestOf } from './modern-calls.js';
import { within } from './until.js';

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
    const { capabilities, headers } = this;
    const envelope = { clientCapabilities: capabilities };
    const { body, ...options } = modernRequestOf(method, params, {
      id: ++this.lastId,
      headers,
      envelope,
      meta,
    });
    const outgoing = request(this.url, options);
    const answer = within(`the answer to ${method}`, answerOf(outgoing), 30_000);
    // A closed response is an error only for a test that waits for it.
    answer.catch(() => {});
    outgoing.end(body);
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
