import { brokenError } from '../link/link-errors.js';
import type { TransportError } from '../link/transport.js';
import { SseParser } from '../../lib/sse/sse-parser.js';
import { GetStream, retryDelay, type GetClient } from './get-stream.js';
import { tooLarge } from './transport-errors.js';

const DEFAULT_RETRY_MS = 500;
const MAX_ATTEMPTS_WITHOUT_PROGRESS = 3;
/** HTTP errors that may go away: the server has not noticed the end of the old stream, or limits its load. */
const TEMPORARY = new Set([408, 409, 425, 429]);

/** The request that the events answer. */
interface SseRequest {
  /** Delivers the messages in the text; true when the response to the request is among them. */
  deliver(text: string): boolean;
  /** The response was delivered; the server may take a moment to end the stream. */
  linger(): void;
  succeed(): void;
  fail(error: TransportError): void;
}

/**
 * The event stream that answers a POST: notifications and requests of the server, then the response. A stream that
 * breaks off before the response is resumed with GET from its last event, where the server gave event ids.
 */
export class SseResponse {
  private parser: SseParser;
  private isAnswered = false;
  private isResuming = false;
  private attempts = 0;
  private lastEventId = '';
  private retryMs = DEFAULT_RETRY_MS;
  private retryTimer: NodeJS.Timeout | undefined;
  private stream: GetStream | undefined;

  constructor(
    private readonly request: SseRequest,
    private readonly client: GetClient,
  ) {
    this.parser = this.createParser();
  }

  push(chunk: Buffer): void {
    if (!this.parser.push(chunk)) this.request.fail(tooLarge(this.client.maxMessageBytes));
  }

  end(): void {
    this.interrupt(brokenError('the event stream ended before the answer'));
  }

  /** The response to the POST broke off. */
  interrupt(why: TransportError): void {
    if (this.isAnswered) this.request.succeed();
    else if (this.parser.lastEventId === '') this.request.fail(why);
    else {
      this.isResuming = true;
      this.takePosition();
      this.scheduleResume();
    }
  }

  stop(): void {
    clearTimeout(this.retryTimer);
    this.stream?.stop();
  }

  private createParser(): SseParser {
    return new SseParser(
      this.client.maxMessageBytes,
      (data, type) => this.readEvent(data, type),
      this.lastEventId,
    );
  }

  private readEvent(data: string, type: string): void {
    if (type !== 'message' || !this.request.deliver(data)) return;
    this.isAnswered = true;
    if (this.isResuming) this.request.succeed();
    else this.request.linger();
  }

  private takePosition(): void {
    this.lastEventId = this.parser.lastEventId;
    this.retryMs = this.parser.retryMs ?? this.retryMs;
  }

  private scheduleResume(): void {
    this.retryTimer = setTimeout(() => this.resume(), retryDelay(this.retryMs)).unref();
  }

  private resume(): void {
    const { client } = this;
    this.parser = this.createParser();
    this.stream = new GetStream(
      this.parser,
      { onEnd: (why) => this.resumeAgain(why) },
      client.maxMessageBytes,
    );
    client.get(this.lastEventId, this.stream);
  }

  private resumeAgain(why: TransportError): void {
    this.attempts = this.parser.lastEventId === this.lastEventId ? this.attempts + 1 : 0;
    this.takePosition();
    if (why.fault === 'too-large') this.request.fail(why);
    else if (isFinal(why) || this.attempts >= MAX_ATTEMPTS_WITHOUT_PROGRESS)
      this.request.fail(notResumed(why));
    else this.scheduleResume();
  }
}

function isFinal({ fault, details: { httpStatus = 500 } }: TransportError): boolean {
  return fault === 'refused' && httpStatus < 500 && !TEMPORARY.has(httpStatus);
}

/** Never `session-lost`: the server had accepted the request, so it may have been executed. */
const notResumed = (cause: TransportError): TransportError =>
  brokenError(`the event stream broke off before the answer and was not resumed: ${cause.message}`, {
    cause,
  });
