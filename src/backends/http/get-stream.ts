import type { Dispatcher } from 'undici';
import { MAX_TIMER_MS } from '../../lib/deadlines/deadlines.js';
import { brokenError } from '../link/link-errors.js';
import { TransportError, type InboundGate } from '../link/transport.js';
import type { EventStreamParser } from '../../lib/sse/sse-parser.js';
import { isEncoded, mediaTypeOf, type ResponseHeaders } from './post-client/response-head.js';
import { cannotConnect, connectionLost, httpError, tooLarge } from './transport-errors.js';

/** The shortest delay before a stream is opened again. It prevents a busy loop when a server sends `retry: 0`. */
const MIN_RETRY_MS = 50;

/** The part of the transport that requests event streams. */
export interface GetClient {
  readonly maxMessageBytes: number;
  readonly inbound?: InboundGate | undefined;
  /** Sends a GET, with `Last-Event-ID` unless `lastEventId` is empty. */
  sendGet(lastEventId: string, handler: Dispatcher.DispatchHandler): void;
}

interface GetStreamListener {
  onOpen?(): void;
  /** Called for every chunk, even if it contains only a comment. */
  onActivity?(): void;
  /** Called once when the stream has ended or could not be opened, but not after `stop`. */
  onEnd(why: TransportError): void;
}

/** One GET and the event stream in its response. */
export class GetStream implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private isOver = false;

  constructor(
    private readonly parser: Pick<EventStreamParser<unknown>, 'push'>,
    private readonly listener: GetStreamListener,
    private readonly client: GetClient,
  ) {}

  /** Sends the GET, which resumes after `lastEventId` unless that is empty. */
  open(lastEventId: string): void {
    this.client.sendGet(lastEventId, this);
  }

  stop(): void {
    this.isOver = true;
    this.controller?.abort(brokenError('the stream was stopped'));
  }

  /** Ends the stream and reports the reason to the listener. */
  fail(why: TransportError): void {
    if (this.isOver) return;
    this.stop();
    this.listener.onEnd(why);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // If this method throws, undici keeps the new connection in the pool. If it called `controller.abort`, undici would not.
    if (this.isOver) throw brokenError('the stream was stopped');
    this.controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
  ): void {
    // An interim response precedes the final one.
    if (status < 200) return;
    if (status >= 300) this.fail(httpError(status, headers));
    else if (mediaTypeOf(headers) !== 'text/event-stream' || isEncoded(headers))
      this.fail(noEventStream(status));
    else this.listener.onOpen?.();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver) return;
    const { inbound, maxMessageBytes } = this.client;
    const startedAt = performance.now();
    this.listener.onActivity?.();
    if (!this.parser.push(chunk)) return this.fail(tooLarge(maxMessageBytes));
    const pauseMs = inbound?.pauseAfter(performance.now() - startedAt) ?? 0;
    if (pauseMs === 0) return;
    controller.pause();
    inbound?.expectMessagesSince(startedAt);
    setTimeout(() => controller.resume(), pauseMs).unref();
  }

  onResponseEnd(): void {
    this.fail(brokenError('the server ended the stream'));
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.fail(this.controller ? connectionLost(error) : cannotConnect(error));
  }
}

/** The delay before a stream is opened again: the `retry` value of the server, limited to a safe range for a timer. */
export const retryDelay = (retryMs: number): number =>
  Math.min(Math.max(retryMs, MIN_RETRY_MS), MAX_TIMER_MS);

const noEventStream = (status: number): TransportError =>
  new TransportError('refused', `HTTP ${status} without an event stream`, { httpStatus: status });
