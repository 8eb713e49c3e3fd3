import { request, type Dispatcher } from 'undici';
import { setTimeout as pause } from 'node:timers/promises';
import { BoundedBuffer } from '../lib/bounded-buffer/bounded-buffer.js';
import { SseParser } from '../lib/sse/sse-parser.js';
import { isConnectFailure, unreachable } from './gateway-problem.js';

/** The limits of a bridge. Tests set lower ones than BRIDGE_LIMITS. */
export interface BridgeLimits {
  /**
   * Maximum size of a message. A longer message from the client is refused. If the gateway sends a longer message, the bridge
   * stops reading the response that contains it.
   */
  readonly messageBytes: number;
  /**
   * Maximum number of requests in flight. Further requests are refused at once. If the bridge waited with them, it would not
   * read the client's responses that follow on stdin, and requests in flight may need these responses.
   */
  readonly requests: number;
  /** How long the bridge tries to send a message while the gateway does not listen, for example during a restart. */
  readonly reconnectMs: number;
  /**
   * How long the bridge waits for the answers to requests in flight after the end of stdin. Clients kill the process of the
   * bridge two seconds after they have closed stdin.
   */
  readonly drainMs: number;
}

export const BRIDGE_LIMITS: BridgeLimits = {
  messageBytes: 64 * 1024 * 1024,
  requests: 1000,
  reconnectMs: 30_000,
  drainMs: 1500,
};
export const RETRY_MS = 500;
/**
 * A connection without any byte for this time counts as lost. The time is longer than the interval of keep-alive comments
 * in event streams.
 */
const SILENCE_MS = 120_000;

export type BridgeResponse = Dispatcher.ResponseData;

interface SendOptions {
  readonly body?: string;
  readonly lastEventId?: string;
  readonly signal?: AbortSignal;
  /** Whether the message may be sent again although the gateway may have received it. */
  readonly isRepeatable?: boolean;
  /** Whether the request opens a session, so that it is sent without a session id. */
  readonly isInitial?: boolean;
}

/** HTTP requests of one session to the MCP endpoint of the gateway. */
export class BridgeConnection {
  /** Id of the session. Undefined until `initialize` is answered. */
  session: string | undefined;
  /** The negotiated protocol version. */
  version: string | undefined;
  private readonly endController = new AbortController();
  /** Aborts when `end` is called. */
  readonly signal = this.endController.signal;

  constructor(
    private readonly endpoint: string,
    private readonly key: string | undefined,
    private readonly note: (text: string) => void,
    private readonly limits: BridgeLimits,
  ) {}

  /** Ends all requests except those that were sent with a `signal` of their own. */
  end(): void {
    this.endController.abort();
  }

  /**
   * Like `send`, but tries again for up to `reconnectMs` while the gateway does not listen. A message that the gateway may
   * have received is sent again only with `isRepeatable`.
   */
  async sendWithRetries(method: 'GET' | 'POST', options: SendOptions): Promise<BridgeResponse> {
    const { reconnectMs } = this.limits;
    const deadline = performance.now() + reconnectMs;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.send(method, options);
      } catch (error) {
        const problem = unreachable(this.endpoint, error);
        const mayRepeat = isConnectFailure(error) || (options.isRepeatable === true && !this.signal.aborted);
        if (!mayRepeat || performance.now() > deadline) throw problem;
        if (attempt === 0) this.note(`${problem.message}; trying again for ${reconnectMs / 1000} s`);
        await pause(RETRY_MS, undefined, { signal: this.signal });
      }
    }
  }

  send(method: 'GET' | 'POST' | 'DELETE', options: SendOptions): Promise<BridgeResponse> {
    const { body, lastEventId, signal = this.signal, isInitial = false } = options;
    const session = isInitial ? undefined : this.session;
    const headers = {
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      'content-type': body === undefined ? undefined : 'application/json',
      authorization: this.key === undefined ? undefined : `Bearer ${this.key}`,
      'mcp-session-id': session,
      'mcp-protocol-version': session === undefined ? undefined : this.version,
      'last-event-id': lastEventId,
    };
    return request(this.endpoint, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      signal,
      headersTimeout: SILENCE_MS,
      bodyTimeout: SILENCE_MS,
    });
  }

  /**
   * Delivers the messages of an event stream until it ends or its connection is lost. Returns the parser, which has the
   * last event id. Rejects when a message is too long, and after `end`.
   */
  async readEvents(
    { body }: BridgeResponse,
    lastEventId: string,
    deliver: (text: string) => Promise<void>,
  ): Promise<SseParser> {
    const messages: string[] = [];
    // The first event of a stream only sets the event id: its data is empty.
    const collect = (data: string): void => {
      if (data.trim() !== '') messages.push(data);
    };
    const parser = new SseParser(this.limits.messageBytes, collect, lastEventId);
    try {
      for await (const chunk of body) {
        if (!parser.push(chunk as Buffer)) throw new RangeError('a message of the gateway is too long');
        for (const message of messages.splice(0)) await deliver(message);
      }
    } catch (error) {
      // Any other error means that the connection was lost. The caller can resume the stream.
      if (error instanceof RangeError || this.signal.aborted) throw error;
    }
    return parser;
  }

  /** All messages of a response, which is JSON or an event stream. */
  async messagesOf(response: BridgeResponse): Promise<string[]> {
    if (!isEventStream(response)) return [await this.textOf(response)];
    const texts: string[] = [];
    await this.readEvents(response, '', async (text) => {
      texts.push(text);
    });
    return texts;
  }

  /** The whole body of a response as text. */
  async textOf({ body }: BridgeResponse): Promise<string> {
    const text = new BoundedBuffer(this.limits.messageBytes);
    for await (const chunk of body)
      if (!text.append(chunk as Buffer)) throw new RangeError('a message of the gateway is too long');
    return text.take().toString();
  }
}

export const isEventStream = ({ headers }: BridgeResponse): boolean =>
  String(headers['content-type']).startsWith('text/event-stream');
