import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { Server as TcpServer } from 'node:net';
import { completesWithin } from '../lib/deadlines/timeout.js';
import type { ConnectionGuard } from './connection.guard.js';
import { DeadPeerDetector } from './dead-peer-detector.js';
import { writeError } from './http-errors.js';
import type { McpEndpoint } from './mcp-endpoint.js';
import type { OriginGuard } from './origin.guard.js';
import { RequestAdmission, type ClientSocket, type RefusePipelined } from './request-admission.js';

const MCP_PATH = '/mcp';
/** The project id is not decoded, because it has no characters that are escaped in a path. */
const PROJECT_PATH = /^\/projects\/([^/]+)\/mcp$/;
/**
 * When a browser opens the MCP endpoint, its request is served as if it had this path. `originalUrl` has the requested
 * URL.
 */
const START_PAGE_PATH = '/';
const ADMIN_PATH = /^\/admin(?:\/|$)/;
/** Longer than the idle timeouts of common load balancers, so that idle connections are closed by the load balancer. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** TCP keep-alive detects vanished peers only on connections without unacknowledged data. See `DeadPeerDetector`. */
const TCP_KEEP_ALIVE_DELAY_MS = 30_000;
/** When the server is closed, clients have this time to read their responses. Then all connections are closed. */
const CLOSE_TIMEOUT_MS = 500;
/** While the server waits for `CLOSE_TIMEOUT_MS`, it closes idle connections at this interval. */
const CLOSE_INTERVAL_MS = 20;
interface GatewayRoutes {
  readonly mcp: Pick<McpEndpoint, 'handle'>;
  readonly originGuard: Pick<OriginGuard, 'check'>;
  readonly connections: Pick<ConnectionGuard, 'accept' | 'refusePipelined'>;
  /** Writes the error for a refused request of the admin API, as problem+json. */
  readonly refuseAdmin: typeof writeError;
}

/**
 * The HTTP server of the gateway. MCP requests go to `McpEndpoint` without Fastify (docs/decisions/0002), all others to
 * Fastify and Nest's controllers.
 */
export class GatewayServer {
  private routes: GatewayRoutes | undefined;
  private server: Server | undefined;
  private readonly sockets = new Set<ClientSocket>();
  private readonly admission = new RequestAdmission();
  private isClosing = false;
  private isClosed = false;

  constructor(private readonly deadPeers = new DeadPeerDetector()) {}

  /** Call this before the server listens. Nest needs the server earlier, when the handlers do not exist yet. */
  setRoutes(routes: GatewayRoutes): void {
    this.routes = routes;
  }

  /** Creates the HTTP server. `fastify` handles the requests that are not MCP requests. */
  create(fastify: RequestListener): Server {
    const options = {
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_DELAY_MS,
    };
    const begin: RequestListener = (request, response) => this.route(request, response, fastify);
    const refuse: RefusePipelined = (socket, limit) =>
      this.routes!.connections.refusePipelined(socket, limit);
    const server = createServer(options, (request, response) =>
      this.admission.admit(request, response, begin, refuse),
    );
    this.server = server;
    server.on('connection', (socket) => this.routes!.connections.accept(socket));
    this.deadPeers.watch(server);
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.once('close', () => {
      this.isClosed = true;
    });
    server.close = (done) => {
      this.closeAll(server, done);
      return server;
    };
    return server;
  }

  /** From now on, each connection is closed after the response to its current or next request. */
  closeAfterResponse(): void {
    this.isClosing = true;
    for (const socket of this.sockets) {
      const response = this.admission.latestOn(socket);
      // If the headers of the response are not sent yet, they can announce that the connection closes.
      if (response && !response.headersSent) response.shouldKeepAlive = false;
    }
  }

  /** Accepts no more connections. Requests on open connections are still served. */
  stopListening(): void {
    this.closeAfterResponse();
    // `close` of the HTTP server would close idle connections too, to which a load balancer may be writing a request.
    TcpServer.prototype.close.call(this.server!);
  }

  /** Resolves when the listener and all connections are closed, or after the timeout. */
  async whenClosed(timeoutMs: number): Promise<void> {
    const { server } = this;
    if (server && !this.isClosed) await completesWithin(once(server, 'close'), timeoutMs);
  }

  /**
   * Closes idle connections at once and all others after `CLOSE_TIMEOUT_MS`. Without this timeout, the server would
   * stay open while a client does not read its response or has sent only a part of its request.
   */
  private closeAll(server: Server, done: () => void = () => {}): void {
    if (this.isClosed) {
      setImmediate(done);
      return;
    }
    this.stopListening();
    server.closeIdleConnections();
    const idleTimer = setInterval(() => server.closeIdleConnections(), CLOSE_INTERVAL_MS).unref();
    const allTimer = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS).unref();
    server.once('close', () => {
      clearInterval(idleTimer);
      clearTimeout(allTimer);
      done();
    });
  }

  private route(request: IncomingMessage, response: ServerResponse, fastify: RequestListener): void {
    if (this.isClosing) response.shouldKeepAlive = false;
    const { mcp, originGuard } = this.routes!;
    const path = pathOf(request.url ?? '/');
    const project = path === MCP_PATH ? undefined : PROJECT_PATH.exec(path)?.[1];
    if (path === MCP_PATH || project !== undefined) {
      if (!isPageRequest(request)) {
        mcp.handle(request, response, project);
        return;
      }
      Object.assign(request, { originalUrl: request.url, url: START_PAGE_PATH });
    }
    try {
      originGuard.check(request, response, path);
    } catch (error) {
      this.refuse(request, response, path, error);
      return;
    }
    fastify(request, response);
  }

  private refuse(request: IncomingMessage, response: ServerResponse, path: string, error: unknown): void {
    const write = ADMIN_PATH.test(path) ? this.routes!.refuseAdmin : writeError;
    write(request, response, error);
  }
}

/**
 * Whether a browser opens the URL of the endpoint. A GET of an MCP client accepts an event stream, or names a session.
 */
function isPageRequest({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers['mcp-session-id'] !== undefined) return false;
  const accept = headers.accept ?? '';
  return accept.includes('text/html') && !accept.includes('text/event-stream');
}

const pathOf = (url: string): string => {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
};
