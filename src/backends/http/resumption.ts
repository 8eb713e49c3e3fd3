import type { TransportError } from '../link/transport.js';
import type { Endpoint } from './endpoint.js';
import { GetStream } from './get-stream.js';
import { brokenError } from '../link/link-faults.js';
import { retryDelay } from './retry-delay.js';
import { SseParser, type EventReader } from '../../lib/sse/sse-parser.js';

const DEFAULT_RETRY_MS = 500;
const TRIES_WITHOUT_PROGRESS = 3;
/** Refusals that may pass: the old stream not yet known to be gone, or too much at once. */
const PASSING = new Set([408, 409, 425, 429]);

export interface ResponseResumptionOptions {
  readonly endpoint: Endpoint;
  readonly maxMessageBytes: number;
  readonly onEvent: EventReader;
  /** Called once, unless the resumption was stopped. */
  readonly giveUp: (why: TransportError) => void;
}

/** The rest of a response whose stream broke off: asked for with GET, from the last event that arrived. */
export class ResponseResumption {
  private tries = 0;
  private timer: NodeJS.Timeout | undefined;
  private stream: GetStream | undefined;
  private lastEventId: string;
  private retryMs: number;

  constructor(
    private readonly options: ResponseResumptionOptions,
    interrupted: SseParser,
  ) {
    this.lastEventId = interrupted.lastEventId;
    this.retryMs = interrupted.retryMs ?? DEFAULT_RETRY_MS;
    this.wait();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.stream?.stop();
  }

  private wait(): void {
    this.timer = setTimeout(() => this.ask(), retryDelay(this.retryMs)).unref();
  }

  private ask(): void {
    const { endpoint, maxMessageBytes, onEvent } = this.options;
    const parser = new SseParser(maxMessageBytes, onEvent, this.lastEventId);
    this.stream = new GetStream(parser, { ended: (why) => this.askAgain(parser, why) }, maxMessageBytes);
    endpoint.get(this.lastEventId, this.stream);
  }

  private askAgain(parser: SseParser, why: TransportError): void {
    this.tries = parser.lastEventId === this.lastEventId ? this.tries + 1 : 0;
    this.lastEventId = parser.lastEventId;
    this.retryMs = parser.retryMs ?? this.retryMs;
    if (why.fault === 'too-large') this.options.giveUp(why);
    else if (isFinal(why) || this.tries >= TRIES_WITHOUT_PROGRESS) this.options.giveUp(notResumed(why));
    else this.wait();
  }
}

function isFinal({ fault, details: { httpStatus = 500 } }: TransportError): boolean {
  return fault === 'refused' && httpStatus < 500 && !PASSING.has(httpStatus);
}

/** Even a lost session: the request was accepted once, so that nobody can say it was not executed. */
const notResumed = (cause: TransportError): TransportError =>
  brokenError(`the event stream broke off before the answer and was not resumed: ${cause.message}`, {
    cause,
  });
