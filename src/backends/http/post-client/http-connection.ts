import type { Socket } from 'node:net';
import type { Carrier, Post } from './post.js';
import type { ResponseHeaders } from '../response-headers.js';
import { ResponseParser, type ResponseSink } from './response-parser.js';

/** A server says when it is going to close a connection; on the way there it may be too late for a request. */
const MARGIN_MS = 1000;
const USUAL_KEEP_ALIVE_MS = 5000;
const LONGEST_KEEP_ALIVE_MS = 600_000;

/** All sockets read to the same place: what was read is dealt with before the next one reads. */
const RECEIVED = Buffer.allocUnsafeSlow(64 * 1024);

export interface HttpConnectionOwner {
  /** It may be able to carry another request. */
  idle(connection: HttpConnection): void;
  gone(connection: HttpConnection): void;
}

/** A connection with one request on it at a time. */
export class HttpConnection implements Carrier, ResponseSink {
  /** To be given to the socket when it is made: like this it needs no stream, and no buffer of its own. */
  readonly onread = { buffer: RECEIVED, callback: (count: number): boolean => this.read(count) };
  private socket!: Socket;
  private readonly reader = new ResponseParser(this);
  private post: Post | undefined;
  /** The response to `post` is whole, and its handler is going to hear of that. */
  private isWhole = false;
  private usableUntil = performance.now() + USUAL_KEEP_ALIVE_MS - MARGIN_MS;

  constructor(private readonly owner: HttpConnectionOwner) {}

  /** Comes before everything else. */
  attach(socket: Socket): void {
    this.socket = socket;
    socket.on('end', () => this.endOfInput());
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => {
      this.fail(new Error('other side closed'));
      this.owner.gone(this);
    });
  }

  /** `now` is on the clock of `performance.now()`. */
  isUsable(now: number): boolean {
    return now < this.usableUntil && this.socket.writable;
  }

  send(post: Post): void {
    this.post = post;
    post.carrier = this;
    this.reader.reset();
    post.listener.onSent();
    this.write(post);
  }

  drop(post: Post): void {
    if (this.post !== post || this.isWhole) return;
    this.post = undefined;
    this.destroy();
  }

  destroy(): void {
    this.socket.destroy();
  }

  onHead(status: number, headers: ResponseHeaders): void {
    this.post?.listener.onHead(status, headers);
  }

  onBody(bytes: Buffer): void {
    // What is read next takes their place.
    this.post?.listener.onBody(Buffer.from(bytes));
  }

  onEnd(): void {
    this.isWhole = true;
    // When all that has arrived was read (decision 15).
    setImmediate(finish, this);
  }

  finish(): void {
    const { post } = this;
    this.post = undefined;
    this.isWhole = false;
    if (this.isReusable()) this.owner.idle(this);
    else this.destroy();
    post?.listener.onEnd();
  }

  private write({ head, body }: Post): void {
    const { socket } = this;
    const bytes = Buffer.byteLength(body);
    const start = `${head}content-length: ${bytes}\r\n\r\n`;
    if (bytes === body.length) {
      // Every character is a byte: one string, one write.
      socket.write(start + body, 'latin1');
      return;
    }
    socket.cork();
    socket.write(start, 'latin1');
    socket.write(body);
    socket.uncork();
  }

  private read(count: number): boolean {
    if (!this.post) {
      // Nobody asked for anything: whatever this is, it must not become somebody's answer.
      this.destroy();
      return false;
    }
    try {
      this.reader.push(RECEIVED.subarray(0, count));
    } catch (error) {
      this.fail(error as Error);
    }
    return true;
  }

  private endOfInput(): void {
    if (!this.reader.close()) this.fail(new Error('other side closed'));
  }

  private fail(cause: Error): void {
    this.destroy();
    if (this.isWhole) return;
    const { post } = this;
    this.post = undefined;
    post?.listener.onFailure(cause);
  }

  private isReusable(): boolean {
    const { head } = this.reader;
    // A server may answer before it has read everything; what is still to be written belongs to nobody then.
    if (!head?.persistent || this.socket.writableLength !== 0) return false;
    const now = performance.now();
    const keepAliveMs = Math.min(head.keepAliveMs ?? USUAL_KEEP_ALIVE_MS, LONGEST_KEEP_ALIVE_MS);
    this.usableUntil = now + keepAliveMs - MARGIN_MS;
    return this.isUsable(now);
  }
}

const finish = (connection: HttpConnection): void => connection.finish();
