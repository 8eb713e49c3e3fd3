import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { TransportError } from '../link/transport.js';
import { DrainedBody } from './drained-body.js';
import type { Endpoint } from './endpoint.js';
import { SseResponse } from './sse-response.js';
import { brokenError } from '../link/link-faults.js';
import { connectionFault, sessionLost, tooLarge } from './faults.js';
import type { Inbox } from './inbox.js';
import { JsonAnswer } from './json-answer.js';
import type { Post, PostListener } from './post-client/post.js';
import { ErrorBody } from './error-body.js';
import type { OpenExchange, ResponseBody } from './response-body.js';
import { isEncoded, mediaType, refused, type ResponseHeaders } from './response-headers.js';

/** How long a server may take to end a response in which it has said everything. */
const LINGER_MS = 1000;

export interface PendingPostOptions {
  readonly endpoint: Endpoint;
  readonly inbox: Inbox;
  readonly maxMessageBytes: number;
  /** How long a body that must flow may pause. */
  readonly bodyIdleMs: number;
  /** How long a message without an answer may wait to be accepted. */
  readonly acceptTimeoutMs: number;
  /** The exchange has a deadline now. */
  watch(deadline: number): void;
  /** It holds nothing any more. */
  ended(exchange: PendingPost): void;
}

/** One POST, from the message sent to the answer delivered. */
export class PendingPost implements PostListener, OpenExchange {
  readonly settled: Promise<void>;
  /** On the clock of `performance.now()`. There is none for an answer: whoever waits for it calls `abandon`. */
  deadline = Infinity;
  private resolve!: () => void;
  private reject!: (error: TransportError) => void;
  private isOver = false;
  private readonly hadSession: boolean;
  private post: Post | undefined;
  private wasSent = false;
  private body: ResponseBody | undefined;

  constructor(
    private readonly setting: PendingPostOptions,
    /** Among the exchanges under way. */
    readonly id: number,
    readonly requestId: RequestId | undefined,
  ) {
    this.hadSession = setting.endpoint.sessionId !== undefined;
    this.settled = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    if (requestId === undefined) this.expectWithin(setting.acceptTimeoutMs);
  }

  send(text: string): void {
    this.post = this.setting.endpoint.post(text, this);
  }

  succeed(): void {
    this.resolve();
    this.finish();
  }

  fail(error: TransportError): void {
    this.reject(error);
    this.finish();
  }

  linger(): void {
    this.resolve();
    this.expectWithin(LINGER_MS);
  }

  deliver(text: string): boolean {
    if (this.isOver) return false;
    try {
      return this.setting.inbox.deliver(text, this.requestId);
    } catch (error) {
      this.fail(
        error instanceof TransportError
          ? error
          : brokenError('the response cannot be read', { cause: error }),
      );
      return false;
    }
  }

  /** The deadline has come. */
  expire(): void {
    const fault = brokenError(
      `the server stopped ${this.body ? 'within its response' : 'before it responded'}`,
    );
    if (this.body) this.body.cut(fault);
    else this.fail(fault);
  }

  onSent(): void {
    this.wasSent = true;
  }

  onHead(status: number, headers: ResponseHeaders): void {
    if (this.isOver) return;
    this.body = status < 300 ? this.acceptedBody(status, headers) : this.refusedBody(status, headers);
    this.deadline = Infinity;
    if (this.body?.mustFlow) this.expectWithin(this.setting.bodyIdleMs);
  }

  onBody(chunk: Buffer): void {
    if (this.isOver || !this.body) return;
    if (this.body.mustFlow) this.deadline = performance.now() + this.setting.bodyIdleMs;
    this.body.push(chunk);
  }

  onEnd(): void {
    if (!this.isOver) this.body?.end();
  }

  onFailure(cause: Error): void {
    if (this.isOver) return;
    const fault = connectionFault(cause, this.wasSent);
    if (this.body) this.body.cut(fault);
    else this.fail(fault);
  }

  private acceptedBody(status: number, headers: ResponseHeaders): ResponseBody | undefined {
    const { endpoint, maxMessageBytes } = this.setting;
    const type = mediaType(headers);
    if (this.requestId === undefined) return this.dismiss(type);
    endpoint.learnSession(headers);
    if (isEncoded(headers))
      return this.dismiss(type, brokenError('the server compressed its response, unasked'));
    if (type === 'text/event-stream') return new SseResponse(this, endpoint, maxMessageBytes);
    if (type !== 'application/json')
      return this.dismiss(
        type,
        brokenError(`the server answered HTTP ${status} with ${type || 'no content type'}`),
      );
    if (Number(headers['content-length']) > maxMessageBytes)
      return this.dismiss(type, tooLarge(maxMessageBytes));
    return new JsonAnswer(this, maxMessageBytes);
  }

  private refusedBody(status: number, headers: ResponseHeaders): ResponseBody | undefined {
    const type = mediaType(headers);
    if (status === 404 && this.hadSession) {
      this.setting.endpoint.sessionLost = true;
      return this.dismiss(type, sessionLost());
    }
    const error = refused(status, headers);
    const mayAnswer = this.requestId !== undefined && type === 'application/json' && !isEncoded(headers);
    return mayAnswer ? new ErrorBody(this, error) : this.dismiss(type, error);
  }

  /** Settles by the head alone. */
  private dismiss(type: string, error?: TransportError): ResponseBody | undefined {
    if (error) this.reject(error);
    else this.resolve();
    if (type !== 'text/event-stream' && error?.fault !== 'too-large') return new DrainedBody(this);
    this.finish();
    return undefined;
  }

  private expectWithin(ms: number): void {
    this.deadline = performance.now() + ms;
    this.setting.watch(this.deadline);
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.body?.stop?.();
    this.post?.abort();
    this.setting.ended(this);
  }
}
