import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { HttpConnection, type HttpConnectionOwner } from './http-connection.js';
import { Post, type Carrier, type PostListener } from './post.js';

const SWEEP_MS = 1000;

export interface PostClientOptions {
  /** At most. Requests beyond that wait. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
}

/**
 * The connections to one server that requests are posted on. With an HTTP client made for every case a call costs a
 * quarter more (docs/decisions/0016); undici still makes the connections, TLS included.
 */
export class PostClient implements HttpConnectionOwner, Carrier {
  private readonly all = new Set<HttpConnection>();
  /** The one used last is taken first, so that those that are not needed grow old. */
  private readonly free: HttpConnection[] = [];
  /** Those whose response came in this turn of the event loop. */
  private resting: HttpConnection[] = [];
  private readonly waiting: Post[] = [];
  private readonly hostname: string;
  private connecting = 0;
  private session: Buffer | undefined;
  private sweeper: NodeJS.Timeout | undefined;
  private isDestroyed = false;

  constructor(
    private readonly url: URL,
    /** What requests call the server, which is then the name its certificate must have. */
    private readonly host: string,
    private readonly options: PostClientOptions,
  ) {
    // An IPv6 address stands in brackets in a URL, and without them everywhere else.
    this.hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
  }

  post(head: string, body: string, listener: PostListener): Post {
    const post = new Post(head, body, listener, this);
    const connection = this.takeFree();
    if (connection) connection.send(post);
    else if (this.isDestroyed) listener.onFailure(new Error('closed'));
    else {
      this.waiting.push(post);
      this.connectAsNeeded();
    }
    return post;
  }

  /** One that waits. */
  drop(post: Post): void {
    const at = this.waiting.indexOf(post);
    if (at !== -1) this.waiting.splice(at, 1);
  }

  /**
   * It is used again a turn later: what a server sent behind its response, or that it has closed the connection without
   * a word, is known by then.
   */
  idle(connection: HttpConnection): void {
    this.resting.push(connection);
    if (this.resting.length === 1) setImmediate(() => this.endRest());
  }

  gone(connection: HttpConnection): void {
    this.all.delete(connection);
    const at = this.free.indexOf(connection);
    if (at !== -1) this.free.splice(at, 1);
    this.connectAsNeeded();
  }

  /** Whatever is under way breaks off. */
  destroy(): void {
    this.isDestroyed = true;
    clearTimeout(this.sweeper);
    for (const connection of this.all) connection.destroy();
    for (const { listener } of this.waiting.splice(0)) listener.onFailure(new Error('closed'));
  }

  private endRest(): void {
    const rested = this.resting;
    this.resting = [];
    const now = performance.now();
    for (const connection of rested) {
      if (connection.isUsable(now)) this.employ(connection);
      else connection.destroy();
    }
    this.connectAsNeeded();
  }

  private employ(connection: HttpConnection): void {
    const post = this.waiting.shift();
    if (post) {
      connection.send(post);
      return;
    }
    this.free.push(connection);
    this.sweeper ??= setTimeout(() => this.sweep(), SWEEP_MS).unref();
  }

  private takeFree(): HttpConnection | undefined {
    for (let connection = this.free.pop(); connection; connection = this.free.pop()) {
      if (connection.isUsable(performance.now())) return connection;
      connection.destroy();
    }
    return undefined;
  }

  private connectAsNeeded(): void {
    if (this.isDestroyed) return;
    while (
      this.connecting + this.resting.length < this.waiting.length &&
      this.all.size + this.connecting < this.options.connections
    )
      this.connect();
  }

  private connect(): void {
    this.connecting++;
    const connection = new HttpConnection(this);
    const connect = buildConnector({
      timeout: this.options.connectTimeoutMs,
      session: this.session,
      onread: connection.onread,
    });
    const { hostname, host, url } = this;
    connect({ hostname, host, protocol: url.protocol, port: url.port }, (error, socket) => {
      this.connecting--;
      if (socket) this.connected(connection, socket);
      else this.failed(error);
    });
  }

  private connected(connection: HttpConnection, socket: Socket): void {
    if (this.isDestroyed) {
      socket.destroy();
      return;
    }
    // For the next connection, whose handshake is shorter with it.
    socket.on('session', (session: Buffer) => (this.session = session));
    connection.attach(socket);
    this.all.add(connection);
    this.employ(connection);
  }

  /** One attempt was made for each that waits. */
  private failed(error: Error): void {
    this.waiting.shift()?.listener.onFailure(error);
    this.connectAsNeeded();
  }

  private sweep(): void {
    this.sweeper = undefined;
    const now = performance.now();
    for (const connection of this.free) if (!connection.isUsable(now)) connection.destroy();
    if (this.free.length > 0) this.sweeper = setTimeout(() => this.sweep(), SWEEP_MS).unref();
  }
}
