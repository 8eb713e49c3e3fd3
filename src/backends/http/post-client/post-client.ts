import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { HttpConnection, type HttpConnectionOwner, type PostRequest } from './http-connection.js';

/** The interval at which idle connections whose idle timeout has passed are closed. */
const IDLE_CHECK_INTERVAL_MS = 1000;

interface PostClientOptions {
  /** Maximum number of connections, which may change. Further requests wait for a connection. */
  readonly maxConnections: () => number;
  readonly connectTimeoutMs: number;
  readonly createConnector?: typeof buildConnector | undefined;
  /** See `HttpConnectionOwner`. */
  readonly needsKeepAliveHeader?: boolean;
}

/**
 * Sends POST requests to one server over a pool of connections. A general HTTP client costs a quarter more CPU per call
 * (docs/decisions/0016). The connector of undici opens the connections, TLS included.
 */
export class PostClient implements HttpConnectionOwner {
  private readonly connections = new Set<HttpConnection>();
  /** Idle connections. The last one is used first, so that surplus connections reach their idle timeout. */
  private readonly idle: HttpConnection[] = [];
  /** Connections whose response was complete in this iteration of the event loop. They are reused in the next one. */
  private justReleased: HttpConnection[] = [];
  /** Requests that wait for a connection. */
  private readonly waiting: PostRequest[] = [];
  private readonly hostname: string;
  /** Number of connections that are being opened. */
  private connecting = 0;
  private tlsSession: Buffer | undefined;
  private idleCheck: NodeJS.Timeout | undefined;
  private isDestroyed = false;

  constructor(
    private readonly url: URL,
    /** The value of the Host header, which is also the name that a certificate must have. */
    private readonly host: string,
    private readonly options: PostClientOptions,
  ) {
    // An IPv6 address is in brackets in a URL, but not in a socket address.
    this.hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
  }

  get needsKeepAliveHeader(): boolean {
    return this.options.needsKeepAliveHeader === true;
  }

  send(request: PostRequest): void {
    const connection = this.takeIdle();
    if (connection) connection.send(request);
    else if (this.isDestroyed) request.onFailure(new Error('closed'));
    else {
      this.waiting.push(request);
      this.connectAsNeeded();
    }
  }

  /** Cancels a request. Its connection is closed if the response has not arrived. Calls no method of the request. */
  abort(request: PostRequest): void {
    if (request.connection) {
      request.connection.abort(request);
      return;
    }
    const index = this.waiting.indexOf(request);
    if (index !== -1) this.waiting.splice(index, 1);
  }

  /**
   * Reuses the connection in the next iteration of the event loop. By then the socket has reported whether the server has sent
   * more than its response, or has closed the connection without announcing that.
   */
  released(connection: HttpConnection): void {
    this.justReleased.push(connection);
    if (this.justReleased.length === 1) setImmediate(() => this.reuseReleased());
  }

  closed(connection: HttpConnection): void {
    this.connections.delete(connection);
    const index = this.idle.indexOf(connection);
    if (index !== -1) this.idle.splice(index, 1);
    this.connectAsNeeded();
  }

  /** Closes all connections; unfinished requests fail. */
  destroy(): void {
    this.isDestroyed = true;
    clearTimeout(this.idleCheck);
    for (const connection of this.connections) connection.destroy();
    for (const request of this.waiting.splice(0)) request.onFailure(new Error('closed'));
  }

  private reuseReleased(): void {
    const connections = this.justReleased;
    this.justReleased = [];
    const now = performance.now();
    for (const connection of connections) {
      if (connection.isUsable(now)) this.assign(connection);
      else connection.destroy();
    }
    this.connectAsNeeded();
  }

  /** Sends the next waiting request over the connection, or keeps the connection idle. */
  private assign(connection: HttpConnection): void {
    const request = this.waiting.shift();
    if (request) {
      connection.send(request);
      return;
    }
    this.idle.push(connection);
    this.idleCheck ??= setTimeout(() => this.closeExpired(), IDLE_CHECK_INTERVAL_MS).unref();
  }

  /** Returns a usable idle connection, or undefined when there is none. Closes the unusable connections that it finds. */
  private takeIdle(): HttpConnection | undefined {
    for (;;) {
      const connection = this.idle.pop();
      if (!connection || connection.isUsable(performance.now())) return connection;
      connection.destroy();
    }
  }

  /**
   * Opens connections, up to the maximum, until there is one for each waiting request. Connections that are being opened or were
   * just released count.
   */
  private connectAsNeeded(): void {
    if (this.isDestroyed) return;
    while (
      this.connecting + this.justReleased.length < this.waiting.length &&
      this.connections.size + this.connecting < this.options.maxConnections()
    )
      this.connect();
  }

  private connect(): void {
    this.connecting++;
    const connection = new HttpConnection(this);
    const { createConnector = buildConnector } = this.options;
    const connect = createConnector({
      timeout: this.options.connectTimeoutMs,
      session: this.tlsSession,
      onread: connection.onread,
    });
    const { hostname, host, url } = this;
    connect({ hostname, host, protocol: url.protocol, port: url.port }, (error, socket) => {
      this.connecting--;
      if (socket) this.connected(connection, socket);
      else this.connectFailed(error);
    });
  }

  private connected(connection: HttpConnection, socket: Socket): void {
    if (this.isDestroyed) {
      socket.destroy();
      return;
    }
    // The session shortens the TLS handshake of the next connection.
    socket.on('session', (session: Buffer) => (this.tlsSession = session));
    connection.attach(socket);
    this.connections.add(connection);
    this.assign(connection);
  }

  /** Each waiting request caused one attempt to connect, so each failed attempt fails one request. */
  private connectFailed(error: Error): void {
    this.waiting.shift()?.onFailure(error);
    this.connectAsNeeded();
  }

  private closeExpired(): void {
    this.idleCheck = undefined;
    const now = performance.now();
    for (const connection of this.idle) if (!connection.isUsable(now)) connection.destroy();
    if (this.idle.length > 0)
      this.idleCheck = setTimeout(() => this.closeExpired(), IDLE_CHECK_INTERVAL_MS).unref();
  }
}
