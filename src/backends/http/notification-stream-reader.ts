import { Backoff } from '../../lib/backoff/backoff.js';
import { SseParser } from '../../lib/sse/sse-parser.js';
import { brokenError, isBadRequest } from '../link/link-errors.js';
import type { StreamState, TransportError } from '../link/transport.js';
import { GetStream, retryDelay, type GetClient } from './get-stream.js';
import { sessionLost } from './transport-errors.js';

/** The transport as the notification stream uses it. */
export interface NotificationStreamOwner extends GetClient {
  /** Silence after which the stream may be dead; a comment ends the silence. No limit where undefined. */
  readonly streamIdleMs: number | undefined;
  readonly sessionId: string | undefined;
  /** Throws on invalid JSON. */
  deliver(text: string): unknown;
  report(error: unknown): void;
  streamChanged(state: StreamState): void;
  closeAfterSessionLoss(error: TransportError): void;
}

const MAX_RETRY_AFTER_MS = 300_000;
/** A stream that was open for this long resets the backoff. */
const MIN_STABLE_MS = 5_000;

/**
 * Keeps the server's notification stream open: requests it again whenever it ends, with backoff, until it is closed or
 * the server does not offer it.
 *
 * It is resumed from the last event only where the server has sent `retry` as well as event ids. Event ids alone are
 * not trusted: some servers accept `Last-Event-ID` and then send nothing on that stream. A silent stream is reopened
 * where it can be resumed; otherwise `silent` is reported, because many servers send no keep-alive comments.
 */
export class NotificationStreamReader {
  private readonly backoff = new Backoff();
  private state: 'open' | 'lost' | 'none' | undefined;
  private isStarted = false;
  private isClosed = false;
  private stream: GetStream | undefined;
  private reconnectTimer: NodeJS.Timeout | undefined;
  private idleTimer: NodeJS.Timeout | undefined;
  private lastEventId = '';
  private openedAt = Infinity;
  private wasOpen = false;
  /** The server has sent `retry`. */
  private supportsResumption = false;

  constructor(private readonly owner: NotificationStreamOwner) {}

  /** Idempotent. */
  open(): void {
    if (this.isStarted || this.isClosed) return;
    this.isStarted = true;
    this.connect();
  }

  /** Drops the current stream, which is dead although its connection is open. */
  reopen(): void {
    this.stream?.fail(brokenError('the server did not answer on another connection either'));
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.reconnectTimer);
    clearTimeout(this.idleTimer);
    this.stream?.stop();
  }

  private connect(): void {
    const { owner } = this;
    const parser = new SseParser(
      owner.maxMessageBytes,
      (data, type) => this.readEvent(data, type),
      this.lastEventId,
    );
    this.openedAt = Infinity;
    this.stream = new GetStream(
      parser,
      {
        onOpen: () => this.opened(),
        onActivity: () => this.idleTimer?.refresh(),
        onEnd: (why) => this.ended(parser, why),
      },
      owner.maxMessageBytes,
    );
    this.startIdleTimer(this.stream, parser);
    owner.get(this.lastEventId, this.stream);
  }

  private startIdleTimer(stream: GetStream, parser: SseParser): void {
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

  private opened(): void {
    this.openedAt = performance.now();
    this.wasOpen = true;
    this.setState('open', this.canResume(this.lastEventId) ? 'resumed' : 'open');
  }

  /** A server without sessions may have been restarted in between, and then its event ids start again. */
  private canResume(lastEventId: string): boolean {
    return this.supportsResumption && lastEventId !== '' && this.owner.sessionId !== undefined;
  }

  private readEvent(data: string, type: string): void {
    if (this.isClosed || type !== 'message') return;
    this.backoff.reset();
    try {
      this.owner.deliver(data);
    } catch (error) {
      this.owner.report(error);
    }
  }

  private ended(parser: SseParser, why: TransportError): void {
    clearTimeout(this.idleTimer);
    if (this.isClosed) return;
    if (this.isSessionLost(why)) this.owner.closeAfterSessionLoss(sessionLost());
    else if (isUnsupported(why)) this.setState('none');
    else this.reconnect(parser, why);
  }

  private reconnect(parser: SseParser, why: TransportError): void {
    if (performance.now() - this.openedAt > MIN_STABLE_MS) this.backoff.reset();
    this.supportsResumption ||= parser.retryMs !== undefined;
    // The event that was too large would come again, and an event id that the server refused stays invalid.
    const startsAfresh = !this.supportsResumption || why.fault === 'too-large' || isBadRequest(why);
    this.lastEventId = startsAfresh ? '' : parser.lastEventId;
    const isPlannedEnd = parser.retryMs !== undefined && this.lastEventId !== '';
    if (!isPlannedEnd && this.setState('lost')) this.owner.report(why);
    // The listeners of the state may have closed the stream.
    if (this.isClosed) return;
    this.reconnectTimer = setTimeout(() => this.connect(), this.reconnectDelay(parser, why)).unref();
  }

  private reconnectDelay({ retryMs }: SseParser, { details }: TransportError): number {
    if (retryMs !== undefined) return retryDelay(retryMs);
    return Math.max(this.backoff.next(), Math.min(details.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
  }

  private isSessionLost({ details: { httpStatus } }: TransportError): boolean {
    if (this.owner.sessionId === undefined) return false;
    // Many servers answer 400 instead of 404; the same request was valid when the stream was first opened.
    return httpStatus === 404 || (httpStatus === 400 && this.wasOpen);
  }

  /** Reports the change as `reported`; false when the state was the same before. */
  private setState(state: 'open' | 'lost' | 'none', reported: StreamState = state): boolean {
    if (this.state === state) return false;
    this.state = state;
    this.owner.streamChanged(reported);
    return true;
  }
}

/** The server answered that it has no such stream, or with something else than one. */
function isUnsupported({ details: { httpStatus = 0 } }: TransportError): boolean {
  return [404, 405, 501].includes(httpStatus) || (httpStatus >= 200 && httpStatus < 300);
}
