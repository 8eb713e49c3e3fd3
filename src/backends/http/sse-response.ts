import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { brokenError } from '../link/link-errors.js';
import type { TransportError } from '../link/transport.js';
import { EventStreamParser } from '../../lib/sse/sse-parser.js';
import type { ReadJson } from '../../lib/json-text/json-reader.js';
import { EventMessage } from './event-message.js';
import { GetStream, retryDelay, type GetClient } from './get-stream.js';
import { tooLarge } from './transport-errors.js';

/** The delay before a stream is resumed, if the server has not sent `retry`. */
const DEFAULT_RETRY_MS = 500;
/** After this number of resumed streams without a new event id, the request fails. */
const MAX_ATTEMPTS_WITHOUT_PROGRESS = 3;
/** Statuses after which a later attempt may succeed: the server limits its load, or still holds the old stream. */
const RETRYABLE_STATUSES = new Set([408, 409, 425, 429]);

/** The request whose response comes as an event stream. */
interface SseRequest {
  readonly requestId: RequestId | undefined;
  /** Delivers the message, or all messages of a batch; true when the response to the request is among them. */
  deliver(message: ReadJson): boolean;
  /** Called when the response has arrived in the body of the POST. The server then has a short time to end that body. */
  awaitStreamEnd(): void;
  succeed(): void;
  fail(error: TransportError): void;
}

/**
 * The event stream in the HTTP response to a POST: notifications and requests of the server, then the JSON-RPC response.
 * If the stream breaks off before the JSON-RPC response and has had an event id, it is resumed by a GET after the last id.
 */
export class SseResponse {
  private parser: EventStreamParser<ReadJson | undefined>;
  private isResponseDelivered = false;
  private isResuming = false;
  private attemptsWithoutProgress = 0;
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

  /** Bytes of the event that is being read. */
  get heldBytes(): number {
    return this.parser.heldBytes;
  }

  push(chunk: Buffer): void {
    if (!this.parser.push(chunk)) this.request.fail(tooLarge(this.client.maxMessageBytes));
  }

  end(): void {
    this.bodyEnded(brokenError('the event stream ended before the response'));
  }

  /**
   * To be called when the body of the POST has ended or broken off. If the response is missing, the stream is resumed, or the
   * request fails with `why`.
   */
  bodyEnded(why: TransportError): void {
    if (this.isResponseDelivered) this.request.succeed();
    else if (this.parser.lastEventId === '') this.request.fail(why);
    else {
      this.isResuming = true;
      this.savePosition();
      this.scheduleResume();
    }
  }

  stop(): void {
    clearTimeout(this.retryTimer);
    this.stream?.stop();
  }

  private createParser(): EventStreamParser<ReadJson | undefined> {
    const { client } = this;
    return new EventStreamParser(
      client.maxMessageBytes,
      new EventMessage(client),
      (message, type) => this.readEvent(message, type),
      this.lastEventId,
    );
  }

  private readEvent(message: ReadJson | undefined, type: string): void {
    if (!message || type !== 'message' || !this.request.deliver(message)) return;
    this.isResponseDelivered = true;
    if (this.isResuming) this.request.succeed();
    else this.request.awaitStreamEnd();
  }

  private savePosition(): void {
    this.lastEventId = this.parser.lastEventId;
    this.retryMs = this.parser.retryMs ?? this.retryMs;
  }

  private scheduleResume(): void {
    this.retryTimer = setTimeout(() => this.resume(), retryDelay(this.retryMs)).unref();
  }

  private resume(): void {
    this.parser = this.createParser();
    const onEnd = (why: TransportError): void => this.resumedStreamEnded(why);
    this.stream = new GetStream(this.parser, { onEnd }, this.client);
    this.stream.open(this.lastEventId);
  }

  private resumedStreamEnded(why: TransportError): void {
    this.attemptsWithoutProgress =
      this.parser.lastEventId === this.lastEventId ? this.attemptsWithoutProgress + 1 : 0;
    this.savePosition();
    if (why.fault === 'too-large') this.request.fail(why);
    else if (isFinal(why) || this.attemptsWithoutProgress >= MAX_ATTEMPTS_WITHOUT_PROGRESS)
      this.request.fail(notResumed(why));
    else this.scheduleResume();
  }
}

/** Whether another attempt to resume is pointless: the server refused the GET with a status that will not change. */
function isFinal({ fault, details: { httpStatus } }: TransportError): boolean {
  if (fault !== 'refused' || httpStatus === undefined) return false;
  return httpStatus < 500 && !RETRYABLE_STATUSES.has(httpStatus);
}

/**
 * The fault is always `broken`, because the server has accepted the request and may have executed it. The fault of the failed
 * GET, such as `unreachable`, would mean that the request was not executed.
 */
const notResumed = (cause: TransportError): TransportError =>
  brokenError(`the event stream broke off before the response and was not resumed: ${cause.message}`, {
    cause,
  });
