import { setTimeout as pause } from 'node:timers/promises';
import { completesWithin } from '../lib/deadlines/timeout.js';
import { onOneLine } from '../lib/json-text/json-text.js';
import { isJsonObject } from '../lib/json-text/json-value.js';
import {
  BRIDGE_LIMITS,
  BridgeConnection,
  isEventStream,
  RETRY_MS,
  type BridgeLimits,
  type BridgeResponse,
} from './bridge-connection.js';
import {
  errorResponse,
  readBridgeMessage,
  refusalIn,
  type BridgeMessage,
  type BridgeOutput,
} from './bridge-message.js';
import { BridgeSubscriptions } from './bridge-subscriptions.js';
import { messageLines } from './message-lines.js';

const DELETE_TIMEOUT_MS = 1000;
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
/** JSON-RPC error codes of the bridge. */
const INVALID_REQUEST = -32600;
const PARSE_ERROR = -32700;
const UNAVAILABLE = -32000;
const OVERLOADED = -31029;

/**
 * A stdio server that forwards every message between its client and the gateway, as text. It reconnects after a restart of
 * the gateway. If the session has expired, it opens another one with the `initialize` request of the client, and makes the
 * subscriptions of the client again.
 */
export class StdioBridge {
  private readonly connection: BridgeConnection;
  private readonly subscriptions: BridgeSubscriptions;
  private readonly limits: BridgeLimits;
  private readonly inFlight = new Set<Promise<void>>();
  /**
   * The latest exchange for which all later messages wait: the exchange of an `initialize` request, or of a message without
   * requests (a notification or a response).
   */
  private lastBlockingExchange: Promise<void> = Promise.resolve();
  /** The text of the client's `initialize` request, with which another session is opened. */
  private initialize: string | undefined;
  /** The attempt to open another session; undefined while no such attempt is in progress. */
  private renewal: Promise<void> | undefined;
  private isListening = false;

  constructor(
    endpoint: string,
    key: string | undefined,
    private readonly out: BridgeOutput,
    limits: Partial<BridgeLimits> = {},
  ) {
    this.limits = { ...BRIDGE_LIMITS, ...limits };
    this.connection = new BridgeConnection(endpoint, key, (text) => out.note(text), this.limits);
    this.subscriptions = new BridgeSubscriptions(this.connection, out, this.limits.reconnectMs);
  }

  /** Forwards messages until the input ends. Resolves when the session is closed. */
  async run(input: AsyncIterable<Buffer>): Promise<void> {
    for await (const line of messageLines(input, this.limits.messageBytes)) await this.receive(line);
    await completesWithin(Promise.all(this.inFlight), this.limits.drainMs);
    await this.close();
  }

  /** Ends all requests and the session. */
  async close(): Promise<void> {
    if (this.connection.signal.aborted) return;
    this.connection.end();
    if (this.connection.session === undefined) return;
    const signal = AbortSignal.timeout(DELETE_TIMEOUT_MS);
    await this.connection
      .send('DELETE', { signal })
      .then(({ body }) => body.dump())
      .catch(() => {});
  }

  /**
   * Starts the exchange of a message. `line` is undefined for a message that is too long. Does not wait for the answer, so
   * that the next message is read.
   */
  private async receive(line: string | undefined): Promise<void> {
    const message = line === undefined ? undefined : readBridgeMessage(line);
    if (line === undefined || !message) {
      const [code, problem] =
        line === undefined
          ? [INVALID_REQUEST, `a message has more than ${this.limits.messageBytes} bytes`]
          : [PARSE_ERROR, 'the message is not JSON'];
      await this.out.write(errorResponse(null, { code, message: problem }));
      return;
    }
    if (message.method === 'initialize' && this.connection.session === undefined) this.initialize = line;
    if (this.inFlight.size >= this.limits.requests) {
      if (message.requests.length > 0) {
        const data = { code: 'Overloaded', limit: this.limits.requests };
        await this.fail(message, { code: OVERLOADED, message: 'too many requests in flight', data });
        return;
      }
      await this.lastBlockingExchange;
    }
    const exchange = this.lastBlockingExchange.then(() => this.exchange(line, message));
    const isBlocking = message.requests.length === 0 || message.method === 'initialize';
    if (isBlocking) this.lastBlockingExchange = exchange;
    this.inFlight.add(exchange);
    void exchange.finally(() => this.inFlight.delete(exchange));
  }

  /**
   * Sends a message and delivers its answer. Never rejects: a failure becomes the answer to the requests of the message.
   */
  private async exchange(line: string, message: BridgeMessage): Promise<void> {
    try {
      await this.deliverAnswer(await this.post(line, message), message);
      if (message.method === 'notifications/initialized') void this.listen();
    } catch (error) {
      if (!this.connection.signal.aborted)
        await this.fail(message, { code: UNAVAILABLE, message: (error as Error).message });
    }
  }

  /** Answers the requests of a message with an error. If the message has no requests, the error is logged. */
  private async fail({ requests }: BridgeMessage, error: Parameters<typeof errorResponse>[1]): Promise<void> {
    if (requests.length === 0) this.out.note(error.message);
    for (const id of requests) await this.out.write(errorResponse(id, error));
  }

  /**
   * Sends a message. If the session has expired, opens another session and sends the message again. A tool must not run
   * twice, so after a lost connection a call is sent again only if the gateway cannot have received it.
   */
  private async post(body: string, { method, requests }: BridgeMessage): Promise<BridgeResponse> {
    const isRepeatable = requests.length === 0 || (method !== undefined && method !== 'tools/call');
    await this.renewal?.catch(() => {});
    const { session } = this.connection;
    const response = await this.connection.sendWithRetries('POST', { body, isRepeatable });
    const hasExpired = response.statusCode === 404 && session !== undefined;
    if (!hasExpired) return response;
    await response.body.dump();
    await this.renew(session);
    return this.connection.sendWithRetries('POST', { body, isRepeatable });
  }

  /**
   * Writes the messages in the HTTP response to the client. `message` is the message that was sent. Its requests that the
   * response leaves without an answer are answered with an error.
   */
  private async deliverAnswer(response: BridgeResponse, message: BridgeMessage): Promise<void> {
    const { statusCode, headers } = response;
    if (statusCode >= 400) {
      await this.fail(message, refusalIn(statusCode, await this.connection.textOf(response)));
      return;
    }
    const isInitialize = message.method === 'initialize';
    if (isInitialize) this.connection.session ??= headers['mcp-session-id'] as string | undefined;
    const unanswered = new Set(message.requests);
    const deliver = async (text: string): Promise<void> => {
      const answer = readBridgeMessage(text);
      for (const id of answer?.responses ?? []) unanswered.delete(id);
      if (isInitialize) this.storeVersion(answer);
      if (answer?.result !== undefined) this.subscriptions.record(message);
      await this.out.write(onOneLine(text));
    };
    if (isEventStream(response)) await this.readAnswer(response, deliver, () => unanswered.size === 0);
    else {
      const text = await this.connection.textOf(response);
      if (text !== '') await deliver(text);
    }
    if (unanswered.size > 0)
      await this.fail(
        { ...message, requests: [...unanswered] },
        { code: UNAVAILABLE, message: 'the connection to the gateway was lost before the answer' },
      );
  }

  private storeVersion(answer: BridgeMessage | undefined): void {
    if (isJsonObject(answer?.result)) this.connection.version = answer.result['protocolVersion'] as string;
  }

  /** Reads the event stream of an answer. If its connection is lost, resumes the stream after the last event. */
  private async readAnswer(
    first: BridgeResponse,
    deliver: (text: string) => Promise<void>,
    isComplete: () => boolean,
  ): Promise<void> {
    let response = first;
    let lastEventId = '';
    for (;;) {
      const parser = await this.connection.readEvents(response, lastEventId, deliver);
      lastEventId = parser.lastEventId;
      const canResume = lastEventId !== '';
      if (isComplete() || !canResume) return;
      await pause(RETRY_MS, undefined, { signal: this.connection.signal });
      response = await this.connection.sendWithRetries('GET', { lastEventId });
      if (response.statusCode !== 200)
        throw new Error(refusalIn(response.statusCode, await this.connection.textOf(response)).message);
    }
  }

  /** Keeps the standalone stream of the session open until the end of the input. */
  private async listen(): Promise<void> {
    if (this.isListening) return;
    this.isListening = true;
    const { signal } = this.connection;
    let lastEventId = '';
    let { session } = this.connection;
    let delayMs = RETRY_MS;
    while (!signal.aborted) {
      // The events of another session cannot be resumed.
      if (session !== this.connection.session) lastEventId = '';
      session = this.connection.session;
      try {
        const response = await this.connection.send('GET', lastEventId === '' ? {} : { lastEventId });
        if (response.statusCode === 200) {
          const parser = await this.connection.readEvents(response, lastEventId, (text) =>
            this.out.write(onOneLine(text)),
          );
          lastEventId = parser.lastEventId;
          delayMs = parser.retryMs ?? RETRY_MS;
        } else await response.body.dump();
        const hasNoStream = response.statusCode === 405;
        if (hasNoStream) return;
        if (response.statusCode === 404 && session !== undefined) {
          await this.renew(session);
          delayMs = RETRY_MS;
        }
      } catch (error) {
        // A message was too long, and a resumed stream would send it again. After other errors, the stream is resumed.
        if (error instanceof RangeError) lastEventId = '';
      }
      await pause(delayMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Opens another session in place of the expired one. Concurrent calls of this method share one attempt. */
  private renew(expired: string): Promise<void> {
    const isRenewed = this.connection.session !== expired;
    if (!this.renewal && isRenewed) return Promise.resolve();
    this.renewal ??= this.openSession().finally(() => {
      this.renewal = undefined;
    });
    return this.renewal;
  }

  /** Opens a session with the `initialize` request of the client, and makes its subscriptions again. */
  private async openSession(): Promise<void> {
    const response = await this.connection.sendWithRetries('POST', {
      body: this.initialize!,
      isInitial: true,
    });
    const text = await this.connection.textOf(response);
    const session = response.headers['mcp-session-id'];
    if (typeof session !== 'string') throw new Error(refusalIn(response.statusCode, text).message);
    this.connection.session = session;
    this.storeVersion(readBridgeMessage(text));
    await (await this.connection.sendWithRetries('POST', { body: INITIALIZED })).body.dump();
    this.out.note('the session has expired; another one was opened');
    // Not awaited, because a server that is down must not delay other messages.
    void this.subscriptions.restore().catch(() => {});
  }
}
