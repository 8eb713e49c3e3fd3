import type { ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { NotificationKind } from '../../core/notification-kind.js';
import { JsonText, SharedJson } from '../../lib/json-text/json-text.js';
import { oneLineSteps } from '../../lib/json-text/scanned-object.js';
import { runSliced } from '../../lib/slices/run-sliced.js';
import { sliceScheduler } from '../../lib/slices/slices.js';
import { longPlainFrame, plainFrame } from '../../mcp/event-frame.js';
import type { JsonRpcError } from '../../mcp/json-rpc-error.js';
import { errorMessage } from '../../mcp/json-rpc.js';
import type { McpContext } from '../../mcp/mcp-context.js';
import { modernResult } from '../../mcp/revisions/modern-result.js';
import { EventStream } from '../event-stream.js';
import { openEventStream } from '../exchange.js';
import { ReplayBuffer } from '../replay-buffer.js';
import { writeJson, writeParts } from '../response-writer.js';
import type { UnreadResponses } from '../unread-responses.js';
import type { ResponseSettings } from './modern-responses.js';

const CLOSING_BRACE = Buffer.from('}');

/**
 * Responds to one request of revision 2026-07-28 with JSON. Responds with an event stream instead if a notification has
 * to be sent before the result, or if the result takes long. The stream has no event ids: it cannot be resumed on
 * another connection.
 */
export class ModernExchange {
  private stream: EventStream | undefined;
  private isAnswered = false;
  private lastKeepAliveAt: number;

  constructor(
    private readonly response: ServerResponse,
    private readonly settings: ResponseSettings,
    private readonly unread: Pick<UnreadResponses, 'add' | 'watch'>,
    /** Aborted when the client closes the connection before the request is answered. */
    private readonly request: { readonly startedAt: number; abort(): void },
  ) {
    this.lastKeepAliveAt = request.startedAt;
    // If the client has closed the connection while its request was read, 'close' has been emitted already.
    if (response.destroyed) request.abort();
    // `once` would take three times as long. It is not needed, because 'close' is emitted once.
    else response.on('close', this.closed);
  }

  /**
   * Opens an event stream on which the caller writes. The exchange writes nothing more, and does not count unread
   * bytes.
   */
  takeStream(): ServerResponse {
    const { response } = this;
    this.isAnswered = true;
    response.off('close', this.closed);
    // If `keepAlive` has written a comment before, the event stream is open already.
    if (!response.destroyed && !response.headersSent) openEventStream(response);
    return response;
  }

  /** Sends a notification before the result. Returns false if the request is answered already. */
  send(message: string, kind: NotificationKind | undefined): boolean {
    if (this.isAnswered) return false;
    return this.openStream().send(plainFrame(message, kind), { droppable: true });
  }

  /** Returns the event stream of the response, and opens it if necessary. */
  private openStream(): EventStream {
    if (this.stream) return this.stream;
    const { settings, unread } = this;
    this.stream = new EventStream('', new ReplayBuffer(0, 0), settings, settings.observer, unread);
    if (!this.response.destroyed) {
      openEventStream(this.response);
      this.stream.connect(this.response);
    }
    return this.stream;
  }

  /** Writes a comment if the request is not answered, and the request and its last comment are at least `quietMs` old. */
  keepAlive(quietMs: number): void {
    const now = performance.now();
    if (this.isAnswered || now - this.lastKeepAliveAt < quietMs) return;
    this.lastKeepAliveAt = now;
    this.openStream().keepAlive();
  }

  /**
   * Answers with a result. Does nothing if the request is answered already. Returns a promise only if the response
   * takes several slices.
   */
  answer(request: McpContext, value: unknown): Promise<void> | undefined {
    if (this.isAnswered) return undefined;
    const json = value instanceof JsonText ? value : JsonText.of(value ?? {});
    const { head, result } = modernResult(request, json);
    this.isAnswered = true;
    if (this.stream) return this.answerOnStream(this.stream, head, result);
    const { response, unread } = this;
    // `head` ends inside the result object and replaces its opening brace. The last brace closes the message.
    if (result instanceof SharedJson)
      setImmediate(
        writeParts,
        response,
        [Buffer.from(head), result.bytes.subarray(1), CLOSING_BRACE],
        unread,
      );
    else setImmediate(writeJson, response, `${head}${result.text.slice(1)}}`, unread);
    return undefined;
  }

  answerWithError(id: RequestId | undefined, { http, text }: JsonRpcError): void {
    if (this.isAnswered) return;
    const message = errorMessage(id, text);
    this.isAnswered = true;
    if (this.stream) {
      this.stream.send(plainFrame(message));
      this.stream.end();
      return;
    }
    this.response.statusCode = http;
    setImmediate(writeJson, this.response, message, this.unread);
  }

  private readonly closed = (): void => {
    if (!this.isAnswered) this.request.abort();
  };

  private answerOnStream(stream: EventStream, head: string, result: JsonText): Promise<void> | undefined {
    if (!(result instanceof SharedJson)) {
      stream.send(plainFrame(`${head}${result.text.slice(1)}}`));
      stream.end();
      return undefined;
    }
    const steps = oneLineSteps(result.bytes);
    return runSliced(steps, sliceScheduler.start()).then((line) => {
      stream.send(longPlainFrame([Buffer.from(head), line.subarray(1), CLOSING_BRACE]));
      stream.end();
    });
  }
}
