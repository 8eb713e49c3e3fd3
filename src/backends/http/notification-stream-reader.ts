import { Backoff } from '../../lib/backoff/backoff.js';
import type { ReadJson } from '../../lib/json-text/json-reader.js';
import { EventStreamParser } from '../../lib/sse/sse-parser.js';
import { brokenError, isBadRequest } from '../link/link-errors.js';
import type { StreamState, TransportError } from '../link/transport.js';
import { EventMessage } from './event-message.js';
import { GetStream, retryDelay, type GetClient } from './get-stream.js';
import { messageIgnored, sessionExpired } from './transport-errors.js';

/** The part of the transport that the reader uses. */
export interface NotificationStreamOwner extends GetClient {
  /** How long the stream may be silent, without even a comment, before it is checked. Undefined: it is never checked. */
  readonly streamIdleMs: number | undefined;
  readonly sessionId: string | undefined;
  /** Throws when the message cannot be read. */
  deliver(message: ReadJson): unknown;
  report(error: unknown): void;
  streamChanged(state: StreamState): void;
  closeAfterSessionExpiry(error: TransportError): void;
}

/** The part of a parser that tells where its stream can be resumed, and after which delay. */
type StreamPosition = Pick<EventStreamParser<unknown>, 'lastEventId' | 'retryMs'>;

/** The longest `Retry-After` of a server that is obeyed. */
const MAX_RETRY_AFTER_MS = 300_000;
/** A stream that was open for this long resets the backoff. */
const MIN_STABLE_MS = 5_000;

/**
 * Keeps the notification stream of a server open: requests the stream again whenever it ends, with backoff, until the
 * reader is closed or the server responds that it offers no such stream.
 *
 * A new stream resumes after the last event only if the server has sent `retry` as well as event ids. Event ids alone do
 * not suffice: some servers accept `Last-Event-ID` and then send nothing on that stream. If a stream is silent and can be
 * resumed, the reader reopens it. If it cannot be resumed, the reader only reports `silent`, because many servers send no
 * keep-alive comments.
 */
export class NotificationStreamReader {
  private readonly backoff = new Backoff();
  /** Undefined until the first stream is open or has ended. */
  private state: 'open' | 'lost' | 'none' | undefined;
  private isStarted = false;
  private isClosed = false;
  private stream: GetStream | undefined;
  private reconnectTimer: NodeJS.Timeout | undefined;
  private idleTimer: NodeJS.Timeout | undefined;
  /** The event after which the next stream resumes; empty if it does not resume. */
  private lastEventId = '';
  /** When the current stream was opened; infinite until then. */
  private openedAt = Infinity;
  /** When a stream was last opened or read. The server may have sent the messages of the next stream at any time since then. */
  private readAt = performance.now();
  private wasOpen = false;
  /** Whether the server has sent `retry`. */
  private supportsResumption = false;

  constructor(private readonly owner: NotificationStreamOwner) {}

  /** Requests the stream for the first time. Idempotent. */
  open(): void {
    if (this.isStarted || this.isClosed) return;
    this.isStarted = true;
    this.connect();
  }

  /** Replaces a silent stream whose connection is still open. To be called when a ping has failed. */
  reopen(): void {
    this.stream?.fail(brokenError('the notification stream is silent and a ping failed'));
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.reconnectTimer);
    clearTimeout(this.idleTimer);
    this.stream?.stop();
  }

  private connect(): void {
    const { owner } = this;
    const parser = new EventStreamParser(
      owner.maxMessageBytes,
      new EventMessage(owner),
      (data, type) => this.readEvent(data, type),
      this.lastEventId,
    );
    this.openedAt = Infinity;
    this.stream = new GetStream(
      parser,
      {
        onOpen: () => this.handleOpen(),
        onActivity: () => this.handleActivity(),
        onEnd: (why) => this.handleEnd(parser, why),
      },
      owner,
    );
    this.startIdleTimer(this.stream, parser);
    this.stream.open(this.lastEventId);
  }

  private startIdleTimer(stream: GetStream, parser: StreamPosition): void {
    const { streamIdleMs } = this.owner;
    if (streamIdleMs === undefined) return;
    this.idleTimer = setTimeout(() => {
      this.supportsResumption ||= parser.retryMs !== undefined;
      if (this.canResume(parser.lastEventId))
        stream.fail(brokenError(`the notification stream was silent for ${streamIdleMs} ms`));
      else {
        this.idleTimer?.refresh();
        this.owner.streamChanged('silent');
      }
    }, streamIdleMs).unref();
  }

  private handleOpen(): void {
    this.owner.inbound?.expectMessagesSince(this.readAt);
    const now = performance.now();
    this.openedAt = now;
    this.readAt = now;
    this.wasOpen = true;
    this.setState('open', this.canResume(this.lastEventId) ? 'resumed' : 'open');
  }

  private handleActivity(): void {
    this.readAt = performance.now();
    this.idleTimer?.refresh();
  }

  /**
   * Whether a new stream can resume after this event. Requires a session: a server without sessions may have restarted
   * meanwhile, and then uses the same event ids again.
   */
  private canResume(lastEventId: string): boolean {
    return this.supportsResumption && lastEventId !== '' && this.owner.sessionId !== undefined;
  }

  private readEvent(data: ReadJson | undefined, type: string): void {
    if (this.isClosed || type !== 'message') return;
    this.backoff.reset();
    if (!data) return;
    try {
      this.owner.deliver(data);
    } catch (error) {
      this.owner.report(messageIgnored(error));
    }
  }

  private handleEnd(parser: StreamPosition, why: TransportError): void {
    clearTimeout(this.idleTimer);
    if (this.isClosed) return;
    if (this.isSessionExpired(why)) this.owner.closeAfterSessionExpiry(sessionExpired());
    else if (isUnsupported(why)) this.setState('none');
    else this.reconnect(parser, why);
  }

  private reconnect(parser: StreamPosition, why: TransportError): void {
    if (performance.now() - this.openedAt > MIN_STABLE_MS) this.backoff.reset();
    this.supportsResumption ||= parser.retryMs !== undefined;
    // A resumed stream would repeat the event that was too large. After HTTP 400, the server would refuse the event id again.
    const isResumable = this.supportsResumption && why.fault !== 'too-large' && !isBadRequest(why);
    this.lastEventId = isResumable ? parser.lastEventId : '';
    // With `retry`, a server may announce that it will end the stream and replay later events on the next one.
    const isPlannedEnd = parser.retryMs !== undefined && this.lastEventId !== '';
    if (!isPlannedEnd) this.reportLoss(why);
    // A listener of the state may have closed this reader.
    if (this.isClosed) return;
    this.reconnectTimer = setTimeout(() => this.connect(), this.reconnectDelay(parser, why)).unref();
  }

  /**
   * Reports that the stream is lost: once, and again for each new GET that gets no HTTP response. At each report, the link
   * checks whether the server can be reached.
   */
  private reportLoss(why: TransportError): void {
    if (this.setState('lost')) this.owner.report(why);
    else if (why.details.httpStatus === undefined) this.owner.streamChanged('lost');
  }

  private reconnectDelay({ retryMs }: StreamPosition, { details }: TransportError): number {
    if (retryMs !== undefined) return retryDelay(retryMs);
    return Math.max(this.backoff.next(), Math.min(details.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
  }

  private isSessionExpired({ details: { httpStatus } }: TransportError): boolean {
    if (this.owner.sessionId === undefined) return false;
    // Many servers respond with 400 instead of 404. If the stream was open before, the request itself is valid.
    return httpStatus === 404 || (httpStatus === 400 && this.wasOpen);
  }

  /** Sets the state and reports it as `reported`. Returns false, and reports nothing, when the state is the same as before. */
  private setState(state: 'open' | 'lost' | 'none', reported: StreamState = state): boolean {
    if (this.state === state) return false;
    this.state = state;
    this.owner.streamChanged(reported);
    return true;
  }
}

/** Whether the server offers no notification stream: it refused the GET, or its response is not an event stream. */
function isUnsupported({ details: { httpStatus } }: TransportError): boolean {
  if (httpStatus === undefined) return false;
  return [404, 405, 501].includes(httpStatus) || (httpStatus >= 200 && httpStatus < 300);
}
