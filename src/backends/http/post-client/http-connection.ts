import type { Socket } from 'node:net';
import { ResponseParser, type ResponseReceiver } from './response-parser.js';

/** How long before the server's announced idle timeout a connection is no longer used. */
const KEEP_ALIVE_MARGIN_MS = 1000;
/** Assumed where the server announces no timeout. */
const DEFAULT_KEEP_ALIVE_MS = 5000;
const MAX_KEEP_ALIVE_MS = 600_000;

/** Shared by all sockets: every read is processed before the next one begins. */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/** One POST request and the receiver of its response. After `onEnd` or `onFailure` nothing else is called. */
export interface PostRequest extends ResponseReceiver {
  /** Request line and header fields, each with its line break, without `content-length`. */
  readonly head: string;
  readonly body: string;
  /** Set when the request is written. The server may have received it from then on. */
  connection: HttpConnection | undefined;
  onEnd(): void;
  onFailure(cause: Error): void;
}

export interface HttpConnectionOwner {
  /** The response is complete and the connection can carry another request. */
  released(connection: HttpConnection): void;
  closed(connection: HttpConnection): void;
}

/** One connection that carries one POST at a time. */
export class HttpConnection {
  /** Option for creating the socket: it then reads into the shared buffer, without a stream in between. */
  readonly onread = { buffer: READ_BUFFER, callback: (count: number): boolean => this.read(count) };
  private socket!: Socket;
  private readonly parser = new ResponseParser(() => this.complete());
  private request: PostRequest | undefined;
  /** The whole response has arrived; `finish` is scheduled. */
  private isComplete = false;
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

  /** `now` is on the clock of `performance.now()`. */
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
      // ASCII only: one string, one write.
      socket.write(start + body, 'latin1');
      return;
    }
    socket.cork();
    socket.write(start, 'latin1');
    socket.write(body);
    socket.uncork();
  }

  /** Closes the connection if it still waits for the response to this request. Calls nothing of the request. */
  abort(request: PostRequest): void {
    if (this.request !== request || this.isComplete) return;
    this.request = undefined;
    this.destroy();
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Called by the immediate that `complete` schedules. */
  finish(): void {
    const { request } = this;
    this.request = undefined;
    this.isComplete = false;
    if (this.isReusable()) this.owner.released(this);
    else this.destroy();
    request?.onEnd();
  }

  private complete(): void {
    this.isComplete = true;
    // In an immediate, so that the bytes that have arrived on other connections are read first (decision 15).
    setImmediate(finish, this);
  }

  private read(count: number): boolean {
    if (!this.request) {
      // Bytes that belong to no request must not become the response to the next one.
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

  private isReusable(): boolean {
    const { head } = this.parser;
    // A server may respond before it has read the whole request; the unwritten rest would precede the next one.
    if (!head?.isPersistent || this.socket.writableLength !== 0) return false;
    const now = performance.now();
    const keepAliveMs = Math.min(head.keepAliveMs ?? DEFAULT_KEEP_ALIVE_MS, MAX_KEEP_ALIVE_MS);
    this.usableUntil = now + keepAliveMs - KEEP_ALIVE_MARGIN_MS;
    return this.isUsable(now);
  }
}

const finish = (connection: HttpConnection): void => connection.finish();
