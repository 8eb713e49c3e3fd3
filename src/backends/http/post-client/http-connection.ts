import type { Socket } from 'node:net';
import { headerOf } from './response-head.js';
import { ResponseParser, type ResponseReceiver } from './response-parser.js';

/**
 * A connection is not reused in this last part of its idle timeout: the server could close it while a request is on its way.
 */
const KEEP_ALIVE_MARGIN_MS = 1000;
/** The idle timeout of a server that announces none. */
const DEFAULT_KEEP_ALIVE_MS = 5000;
const MAX_KEEP_ALIVE_MS = 600_000;
const KEEP_ALIVE = /\bkeep-alive\b/i;

/** All sockets share one buffer: the bytes of one read are processed before the next read. */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** One POST request and the receiver of its response. `onEnd` or `onFailure` is called last. */
export interface PostRequest extends ResponseReceiver {
  /** Request line and header fields, each with its line break, without `content-length`. */
  readonly head: string;
  readonly body: string;
  /** Set when the request is written. From then on, the server may have received the request. */
  connection: HttpConnection | undefined;
  onEnd(): void;
  onFailure(cause: Error): void;
}

export interface HttpConnectionOwner {
  /** Whether a connection is reused only after a response with `connection: keep-alive`. */
  readonly needsKeepAliveHeader: boolean;
  /** The response is complete and the connection can carry another request. */
  released(connection: HttpConnection): void;
  closed(connection: HttpConnection): void;
}

/** One connection that carries one POST at a time. */
export class HttpConnection {
  /** The socket option `onread`: the socket reads into the shared buffer and emits no stream events for data. */
  readonly onread = { buffer: READ_BUFFER, callback: (count: number): boolean => this.read(count) };
  private socket!: Socket;
  private readonly parser = new ResponseParser(() => this.complete());
  private request: PostRequest | undefined;
  /** Whether the whole response has arrived, so that `finish` is scheduled. */
  private isComplete = false;
  /** Number of reasons for which reading is paused. */
  private pauses = 0;
  /** The end of the pauses of `pauseFor`. */
  private pausedUntil = 0;
  private resumeTimer: NodeJS.Timeout | undefined;
  /** The connection may be reused until this time of `performance.now()`. */
  private usableUntil = performance.now() + DEFAULT_KEEP_ALIVE_MS - KEEP_ALIVE_MARGIN_MS;

  constructor(private readonly owner: HttpConnectionOwner) {}

  /** Must be called before any other method. */
  attach(socket: Socket): void {
    this.socket = socket;
    socket.on('end', () => {
      if (!this.parser.close()) this.fail(new Error('other side closed'));
    });
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => {
      this.fail(new Error('other side closed'));
      this.owner.closed(this);
    });
  }

  /** Whether the idle connection may carry another request. `now` is a time of `performance.now()`. */
  isUsable(now: number): boolean {
    return now < this.usableUntil && this.socket.writable;
  }

  send(request: PostRequest): void {
    this.request = request;
    request.connection = this;
    this.parser.start(request);
    const { head, body } = request;
    const { socket } = this;
    const bytes = Buffer.byteLength(body);
    const start = `${head}content-length: ${bytes}\r\n\r\n`;
    if (bytes === body.length) {
      // The body is ASCII: head and body fit into one string and one write.
      socket.write(start + body, 'latin1');
      return;
    }
    socket.cork();
    socket.write(start, 'latin1');
    socket.write(body);
    socket.uncork();
  }

  /** Closes the connection if it still waits for the response to this request. Calls no method of the request. */
  abort(request: PostRequest): void {
    if (this.request !== request || this.isComplete) return;
    this.request = undefined;
    this.destroy();
  }

  /** Stops reading. Each call must be followed by a call of `resume`. */
  pause(): void {
    this.pauses++;
    if (this.pauses === 1) this.socket.pause();
  }

  resume(): void {
    this.pauses--;
    if (this.pauses === 0) this.socket.resume();
  }

  /** Stops reading for a time, so that backpressure reaches the server. A call during a pause prolongs it by `ms`. */
  pauseFor(ms: number): void {
    const now = performance.now();
    this.pausedUntil = Math.max(this.pausedUntil, now) + ms;
    if (this.resumeTimer) clearTimeout(this.resumeTimer);
    else this.pause();
    this.resumeTimer = setTimeout(() => {
      this.resumeTimer = undefined;
      this.resume();
    }, this.pausedUntil - now).unref();
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Called by the immediate that `complete` schedules. */
  finish(): void {
    const { request } = this;
    this.request = undefined;
    this.isComplete = false;
    if (this.prepareReuse()) this.owner.released(this);
    else this.destroy();
    request?.onEnd();
  }

  private complete(): void {
    this.isComplete = true;
    // Deferred, so that bytes that have arrived on other connections are read first (docs/decisions/0015).
    setImmediate(finish, this);
  }

  /** The callback of the option `onread`. Returns false to stop reading. */
  private read(count: number): boolean {
    if (!this.request) {
      // Bytes that arrive without a request must not be taken for the response to the next request.
      this.destroy();
      return false;
    }
    try {
      this.parser.push(READ_BUFFER.subarray(0, count));
    } catch (error) {
      this.fail(error as Error);
    }
    return true;
  }

  private fail(cause: Error): void {
    this.destroy();
    if (this.isComplete) return;
    const { request } = this;
    this.request = undefined;
    request?.onFailure(cause);
  }

  /** Returns whether the connection can be reused. If so, sets until when. */
  private prepareReuse(): boolean {
    const { head } = this.parser;
    // A server may respond before it has read the whole request. The rest of that request would then precede the next one.
    if (!head?.isPersistent || this.socket.writableLength !== 0) return false;
    if (this.owner.needsKeepAliveHeader && !KEEP_ALIVE.test(headerOf(head.headers, 'connection') ?? ''))
      return false;
    const now = performance.now();
    const keepAliveMs = Math.min(head.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS, MAX_KEEP_ALIVE_MS);
    this.usableUntil = now + keepAliveMs - KEEP_ALIVE_MARGIN_MS;
    return this.isUsable(now);
  }
}

/** A function without a closure, because `complete` schedules it for every response. */
const finish = (connection: HttpConnection): void => connection.finish();
