import type { Dispatcher } from 'undici';
import { TransportError } from '../link/transport.js';
import { brokenError } from '../link/link-faults.js';
import { connectionFault, tooLarge } from './faults.js';
import { isEncoded, mediaType, refused, type ResponseHeaders } from './response-headers.js';
import type { SseParser } from '../../lib/sse/sse-parser.js';

export interface GetStreamListener {
  opened?(): void;
  /** Something came, if only a comment. */
  heard?(): void;
  /** Called once, unless the stream was stopped. */
  ended(why: TransportError): void;
}

/** One GET and the events it is answered with. */
export class GetStream implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private isOver = false;

  constructor(
    private readonly parser: SseParser,
    private readonly listener: GetStreamListener,
    private readonly maxMessageBytes: number,
  ) {}

  stop(): void {
    this.isOver = true;
    this.controller?.abort(brokenError('the stream is not needed any more'));
  }

  /** Ends the stream for a reason the connection does not know of. */
  fail(why: TransportError): void {
    if (this.isOver) return;
    this.stop();
    this.listener.ended(why);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown and not aborted: the fresh connection stays in the pool.
    if (this.isOver) throw brokenError('the stream is not needed any more');
    this.controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
  ): void {
    if (status < 200) return;
    if (status >= 300) this.fail(refused(status, headers));
    else if (mediaType(headers) !== 'text/event-stream' || isEncoded(headers)) this.fail(noEvents(status));
    else this.listener.opened?.();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver) return;
    this.listener.heard?.();
    if (!this.parser.push(chunk)) this.fail(tooLarge(this.maxMessageBytes));
  }

  onResponseEnd(): void {
    this.fail(brokenError('the server ended the stream'));
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.fail(connectionFault(error, this.controller !== undefined));
  }
}

const noEvents = (status: number): TransportError =>
  new TransportError('refused', `HTTP ${status} without a stream of events`, { httpStatus: status });
