import { Events, type Message } from './events.js';
import { bodyOf, exchange, openExchange, type RawResponse } from './http.js';
import { until } from './until.js';

export const BOTH_TYPES = 'application/json, text/event-stream';

export interface SessionOptions {
  readonly protocolVersion?: string;
  readonly capabilities?: object;
  /** False leaves out the `notifications/initialized` at the end of the handshake. */
  readonly ready?: boolean;
  /** Sent with every request of the session. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer extends Message {
  /** The response text. */
  readonly text: string;
  /** The messages before it on the stream. */
  readonly before: readonly Message[];
}

/** The first text of a tool result; undefined without a result. */
export function textIn({ result }: Pick<Answer, 'result'>): string | undefined {
  const [first] = (result?.['content'] ?? []) as { text?: string }[];
  return first?.text;
}

const LIST_METHODS = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
};
/** A list, named by the member of the result that contains it. */
export type ListMember = keyof typeof LIST_METHODS;

interface Definition {
  readonly name: string;
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly _meta?: Record<string, unknown>;
  readonly [field: string]: unknown;
}

/** A client without an SDK: the test controls and sees every byte. */
export class RawSession {
  /** The requests of servers to this client. */
  readonly serverRequests: Message[] = [];
  /** Answers a request of a server; undefined leaves it unanswered. */
  onServerRequest: (request: Message) => object | undefined | Promise<object> = () => undefined;
  private lastId = 0;

  private constructor(
    readonly url: string,
    readonly id: string,
    readonly initializeResult: Record<string, unknown>,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  static async open(url: string, options: SessionOptions = {}): Promise<RawSession> {
    const { protocolVersion = '2025-11-25', capabilities = {}, ready = true, headers = {} } = options;
    const params = { protocolVersion, capabilities, clientInfo: { name: 'raw', version: '1' } };
    const response = await postMessage(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, headers);
    const { result } = JSON.parse(response.text) as Message;
    const id = response.headers['mcp-session-id'];
    if (!result || typeof id !== 'string') throw new Error(`initialize failed: ${response.text}`);
    const session = new RawSession(url, id, result, headers);
    if (ready) await session.notify('notifications/initialized');
    return session;
  }

  /** The same session at another URL. Other headers may contain other credentials. */
  at(url: string, headers = this.headers): RawSession {
    return new RawSession(url, this.id, this.initializeResult, headers);
  }

  /** Posts any body in this session. */
  post(body: string | object, headers: Record<string, string> = {}): Promise<RawResponse> {
    return postMessage(this.url, body, { ...this.headers, 'mcp-session-id': this.id, ...headers });
  }

  notify(method: string, params?: object): Promise<RawResponse> {
    return this.post({ jsonrpc: '2.0', method, params });
  }

  /** Answers a request of a server. */
  reply(id: string | number | undefined, result: object): Promise<RawResponse> {
    return this.post({ jsonrpc: '2.0', id, result });
  }

  /** Sends a request and returns its response, from JSON or an event stream. `params` as text is sent unchanged. */
  async request(
    method: string,
    params: object | string = {},
    id: string | number = ++this.lastId,
  ): Promise<Answer> {
    const exchanged = await this.open(method, params, id);
    if (!(exchanged instanceof Events))
      return { ...(JSON.parse(exchanged) as Message), text: exchanged, before: [] };
    await exchanged.untilEnded(30_000);
    const isAnswer = (message: Message): boolean => message.id === id && message.method === undefined;
    const answer = exchanged.messages.find(isAnswer);
    if (!answer) throw new Error('the stream ended without an answer');
    const text = exchanged.all.at(-1)!.data;
    return { ...answer, text, before: exchanged.messages.filter((message) => !isAnswer(message)) };
  }

  callTool(name: string, args: object = {}, id?: string | number): Promise<Answer> {
    return this.request('tools/call', { name, arguments: args }, id);
  }

  read(uri: string, id?: string | number): Promise<Answer> {
    return this.request('resources/read', { uri }, id);
  }

  /** Sends a request whose response is an event stream. */
  async stream(
    method: string,
    params: object | string,
    id: string | number = ++this.lastId,
  ): Promise<Events> {
    const exchanged = await this.open(method, params, id);
    if (exchanged instanceof Events) return exchanged;
    throw new Error(`answered with JSON: ${exchanged}`);
  }

  /** Opens the notification stream, or resumes a broken stream. */
  async listen(lastEventId?: string): Promise<Events> {
    const headers = { ...this.headers, accept: 'text/event-stream', 'mcp-session-id': this.id };
    const resume = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const response = await openExchange(this.url, { headers: { ...headers, ...resume } });
    if (response.statusCode !== 200) throw new Error(`GET: ${response.statusCode} ${await bodyOf(response)}`);
    return this.answerRequestsOn(new Events(response));
  }

  /** Every page of a list. */
  async list(kind: ListMember): Promise<Definition[]> {
    const found: Definition[] = [];
    for (let cursor: unknown, more = true; more; more = cursor !== undefined) {
      const { result } = await this.request(LIST_METHODS[kind], cursor === undefined ? {} : { cursor });
      found.push(...(result?.[kind] as Definition[]));
      cursor = result?.['nextCursor'];
    }
    return found;
  }

  /** Waits until a list has these names. */
  async namesUntil(kind: 'tools' | 'prompts', expected: readonly string[]): Promise<void> {
    const wanted = expected.toSorted().join(' ');
    let last = '';
    await until(`the ${kind} are ${wanted}`, async () => {
      last = (await this.list(kind)).map(({ name }) => name).join(' ');
      return last === wanted;
    }).catch((error: Error) => {
      throw new Error(`${error.message}; they are ${last}`);
    });
  }

  end(): Promise<RawResponse> {
    return exchange(this.url, { method: 'DELETE', headers: { ...this.headers, 'mcp-session-id': this.id } });
  }

  private async open(method: string, params: object | string, id: string | number): Promise<Events | string> {
    const text = typeof params === 'string' ? params : JSON.stringify(params);
    const start = JSON.stringify({ jsonrpc: '2.0', id, method }).slice(0, -1);
    const response = await openExchange(this.url, {
      method: 'POST',
      headers: { ...MESSAGE_HEADERS, ...this.headers, 'mcp-session-id': this.id },
      body: `${start},"params":${text}}`,
    });
    const isStream = response.headers['content-type']?.startsWith('text/event-stream');
    return isStream ? this.answerRequestsOn(new Events(response)) : bodyOf(response);
  }

  private answerRequestsOn(events: Events): Events {
    events.onMessage((message) => {
      if (message.method !== undefined && message.id !== undefined) void this.answerServerRequest(message);
    });
    return events;
  }

  private async answerServerRequest(request: Message): Promise<void> {
    this.serverRequests.push(request);
    const result = await this.onServerRequest(request);
    if (result) await this.reply(request.id, result);
  }
}

const MESSAGE_HEADERS = { accept: BOTH_TYPES, 'content-type': 'application/json' };

/** One POST with the headers of a conforming client and any body. */
export function postMessage(
  url: string,
  body: string | Buffer | object,
  headers: Record<string, string> = {},
): Promise<RawResponse> {
  const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return exchange(url, { method: 'POST', headers: { ...MESSAGE_HEADERS, ...headers }, body: raw });
}

/** The HTTP status and the JSON-RPC error code of a response. */
export async function refusal(response: Promise<RawResponse>): Promise<[number, number | undefined]> {
  const { status, text } = await response;
  return [status, messageIn(text).error?.code];
}

export const messageIn = (text: string): Message => JSON.parse(text) as Message;
