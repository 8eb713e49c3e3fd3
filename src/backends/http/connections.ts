import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { Connection, type ConnectionOwner } from './connection.js';
import { Post, type ResponseHandler } from './post.js';

const SWEEP_MS = 1000;

export interface ConnectionOptions {
  /** At most. Requests beyond that wait. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
}

/**
 * The connections to one server that requests are posted on. An HTTP client made for every case costs more than all the
 * rest of a call together (decision 16); undici still makes the connections, TLS included.
 */
export class Connections implements ConnectionOwner {
  private readonly all = new Set<Connection>();
  /** The one used last is taken first, so that those that are not needed grow old. */
  private readonly idle: Connection[] = [];
  private readonly waiting: Post[] = [];
  private readonly hostname: string;
  private connecting = 0;
  private session: Buffer | undefined;
  private sweeper: NodeJS.Timeout | undefined;
  private isDestroyed = false;

  constructor(
    private readonly url: URL,
    private readonly options: ConnectionOptions,
  ) {
    // An IPv6 address stands in brackets in a URL, and without them everywhere else.
    this.hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
  }

  post(head: string, body: string, handler: ResponseHandler): void {
    const post = new Post(head, body, handler);
    const connection = this.takeIdle();
    if (connection) {
      this.carry(connection, post);
      return;
    }
    this.waiting.push(post);
    this.connectAsNeeded();
  }

  free(connection: Connection): void {
    const post = this.waiting.shift();
    if (post) {
      this.carry(connection, post);
      return;
    }
    this.idle.push(connection);
    this.sweeper ??= setTimeout(() => this.sweep(), SWEEP_MS).unref();
  }

  gone(connection: Connection): void {
    this.all.delete(connection);
    const at = this.idle.indexOf(connection);
    if (at !== -1) this.idle.splice(at, 1);
    this.connectAsNeeded();
  }

  /** Whatever is under way breaks off. */
  destroy(): void {
    this.isDestroyed = true;
    clearTimeout(this.sweeper);
    for (const connection of this.all) connection.destroy();
    for (const { handler } of this.waiting.splice(0)) handler.onResponseError(new Error('closed'));
  }

  private carry(connection: Connection, post: Post): void {
    if (post.begin(connection)) connection.send(post);
    else this.free(connection);
  }

  private takeIdle(): Connection | undefined {
    for (let connection = this.idle.pop(); connection; connection = this.idle.pop()) {
      if (connection.isUsable(performance.now())) return connection;
      connection.destroy();
    }
    return undefined;
  }

  private connectAsNeeded(): void {
    if (this.isDestroyed) return;
    while (
      this.connecting < this.waiting.length &&
      this.all.size + this.connecting < this.options.connections
    )
      this.connect();
  }

  private connect(): void {
    this.connecting++;
    const connection = new Connection(this);
    const connect = buildConnector({
      timeout: this.options.connectTimeoutMs,
      session: this.session,
      onread: connection.onread,
    });
    const { hostname, url } = this;
    connect({ hostname, host: url.host, protocol: url.protocol, port: url.port }, (error, socket) => {
      this.connecting--;
      if (socket) this.connected(connection, socket);
      else this.failed(error);
    });
  }

  private connected(connection: Connection, socket: Socket): void {
    if (this.isDestroyed) {
      socket.destroy();
      return;
    }
    // For the next connection, whose handshake is shorter with it.
    socket.on('session', (session: Buffer) => (this.session = session));
    connection.attach(socket);
    this.all.add(connection);
    this.free(connection);
  }

  /** One attempt was made for each that waits. */
  private failed(error: Error): void {
    this.waiting.shift()?.handler.onResponseError(error);
    this.connectAsNeeded();
  }

  private sweep(): void {
    this.sweeper = undefined;
    const now = performance.now();
    for (const connection of this.idle) if (!connection.isUsable(now)) connection.destroy();
    if (this.idle.length > 0) this.sweeper = setTimeout(() => this.sweep(), SWEEP_MS).unref();
  }
}
