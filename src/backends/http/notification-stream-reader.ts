import { Backoff } from '../../lib/backoff/backoff.js';
import type { StreamState, TransportError } from '../link/transport.js';
import type { Endpoint } from './endpoint.js';
import { GetStream } from './get-stream.js';
import { brokenError, isBadRequest } from '../link/link-faults.js';
import { sessionLost } from './faults.js';
import type { Inbox } from './inbox.js';
import { retryDelay } from './retry-delay.js';
import { SseParser } from '../../lib/sse/sse-parser.js';

export interface NotificationStreamOptions {
  readonly endpoint: Endpoint;
  readonly inbox: Inbox;
  readonly maxMessageBytes: number;
  /** Silence after which the stream may be dead; comments count as sound. */
  readonly streamIdleMs?: number | undefined;
  stateChanged(state: StreamState): void;
  sessionLost(error: TransportError): void;
}

const LONGEST_RETRY_AFTER_MS = 300_000;
/** A stream that held for so long did not fail at once. */
const LIVED_MS = 5_000;

/**
 * The stream on which a server speaks unasked. It is opened again whenever it ends, for as long as it is not
 * closed: what the server says in between is lost, but for servers that number their events and say when to come back
 * for more. Numbers alone are not trusted: there are servers which take them and then say nothing on that stream any
 * more. A stream that has been silent for long is asked for anew where that loses nothing; of the others, many never
 * carry a sign of life, `silent` lets somebody find out.
 */
export class NotificationStreamReader {
  private readonly backoff = new Backoff();
  private state: 'open' | 'lost' | 'none' | undefined;
  private isStarted = false;
  private isClosed = false;
  private stream: GetStream | undefined;
  private timer: NodeJS.Timeout | undefined;
  private watchdog: NodeJS.Timeout | undefined;
  private lastEventId = '';
  private openedAt = Infinity;
  private wasOpen = false;
  /** The server has said when to come back. */
  private isInviting = false;

  constructor(private readonly setting: NotificationStreamOptions) {}

  /** Idempotent. */
  open(): void {
    if (this.isStarted || this.isClosed) return;
    this.isStarted = true;
    this.connect();
  }

  /** What is there is dead, whatever it looks like. */
  renew(): void {
    this.stream?.fail(brokenError('the server did not answer on another connection either'));
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    clearTimeout(this.watchdog);
    this.stream?.stop();
  }

  private connect(): void {
    const { endpoint, maxMessageBytes } = this.setting;
    const parser = new SseParser(maxMessageBytes, (data, type) => this.read(data, type), this.lastEventId);
    this.openedAt = Infinity;
    this.stream = new GetStream(
      parser,
      {
        opened: () => this.opened(),
        heard: () => this.watchdog?.refresh(),
        ended: (why) => this.ended(parser, why),
      },
      maxMessageBytes,
    );
    this.watch(this.stream, parser);
    endpoint.get(this.lastEventId, this.stream);
  }

  private watch(stream: GetStream, parser: SseParser): void {
    const { streamIdleMs } = this.setting;
    if (streamIdleMs === undefined) return;
    this.watchdog = setTimeout(() => {
      this.isInviting ||= parser.retryMs !== undefined;
      if (this.canResume(parser.lastEventId))
        stream.fail(brokenError(`the standing stream was silent for ${streamIdleMs} ms`));
      else {
        this.watchdog?.refresh();
        this.setting.stateChanged('silent');
      }
    }, streamIdleMs).unref();
  }

  private opened(): void {
    this.openedAt = performance.now();
    this.wasOpen = true;
    this.change('open', this.canResume(this.lastEventId) ? 'resumed' : 'open');
  }

  /** A server that keeps no session may have been started anew since, and then numbers from the beginning. */
  private canResume(lastEventId: string): boolean {
    return this.isInviting && lastEventId !== '' && this.setting.endpoint.sessionId !== undefined;
  }

  private read(data: string, type: string): void {
    if (this.isClosed || type !== 'message') return;
    this.backoff.reset();
    try {
      this.setting.inbox.deliver(data);
    } catch (error) {
      this.setting.inbox.report(error);
    }
  }

  private ended(parser: SseParser, why: TransportError): void {
    clearTimeout(this.watchdog);
    if (this.isClosed) return;
    if (this.isForgotten(why)) this.setting.sessionLost(sessionLost());
    else if (this.isUnoffered(why)) this.change('none');
    else this.reconnect(parser, why);
  }

  private reconnect(parser: SseParser, why: TransportError): void {
    if (performance.now() - this.openedAt > LIVED_MS) this.backoff.reset();
    this.isInviting ||= parser.retryMs !== undefined;
    // What was too large would be too large again, and a number that means nothing to the server will not later.
    const isUseless = !this.isInviting || why.fault === 'too-large' || isBadRequest(why);
    this.lastEventId = isUseless ? '' : parser.lastEventId;
    const isInvitedBack = parser.retryMs !== undefined && this.lastEventId !== '';
    if (!isInvitedBack && this.change('lost')) this.setting.inbox.report(why);
    if (this.isClosed) return;
    this.timer = setTimeout(() => this.connect(), this.delay(parser, why)).unref();
  }

  private delay({ retryMs }: SseParser, { details }: TransportError): number {
    if (retryMs !== undefined) return retryDelay(retryMs);
    return Math.max(this.backoff.next(), Math.min(details.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS));
  }

  private isForgotten({ details: { httpStatus } }: TransportError): boolean {
    if (this.setting.endpoint.sessionId === undefined) return false;
    // Many servers say 400 where they should say 404; what was a good request in this session still is one.
    return httpStatus === 404 || (httpStatus === 400 && this.wasOpen);
  }

  private isUnoffered({ details: { httpStatus = 0 } }: TransportError): boolean {
    return [404, 405, 501].includes(httpStatus) || (httpStatus >= 200 && httpStatus < 300);
  }

  /** Whether it is a change. */
  private change(state: 'open' | 'lost' | 'none', told: StreamState = state): boolean {
    if (this.state === state) return false;
    this.state = state;
    this.setting.stateChanged(told);
    return true;
  }
}
