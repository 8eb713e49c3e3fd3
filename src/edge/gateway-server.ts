import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { DeadPeerDetector } from './dead-peer-detector.js';
import { writeError } from './http-errors.js';
import type { McpEndpoint } from './mcp-endpoint.js';
import type { OriginGuard } from './origin.guard.js';

const MCP_PATH = '/mcp';
/** Not decoded: a project id contains no character that is escaped in a path. */
const PROJECT_PATH = /^\/projects\/([^/]+)\/mcp$/;
/** Longer than the idle timeouts of common load balancers, so that they and not the gateway close idle connections. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;
/** TCP keep-alive detects a vanished peer while nothing is sent to it; `DeadPeerDetector` detects the others. */
const TCP_KEEP_ALIVE_DELAY_MS = 30_000;
/** Time for clients to read what was written last before shutdown closes their connections. */
const CLOSE_TIMEOUT_MS = 500;

interface GatewayRoutes {
  readonly mcp: Pick<McpEndpoint, 'handle'>;
  readonly originGuard: Pick<OriginGuard, 'check'>;
}

/**
 * The HTTP server of the gateway. MCP requests go to `McpEndpoint` without Fastify (docs/decisions/0002), all others to
 * Fastify and Nest's controllers.
 */
export class GatewayServer {
  private routes: GatewayRoutes | undefined;

  constructor(private readonly deadPeers = new DeadPeerDetector()) {}

  /** Must be called before the server listens. Nest needs the server before it has created the handlers of the routes. */
  setRoutes(routes: GatewayRoutes): void {
    this.routes = routes;
  }

  create(fastify: RequestListener): Server {
    const options = {
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_DELAY_MS,
    };
    const server = createServer(options, (request, response) => this.route(request, response, fastify));
    this.deadPeers.watch(server);
    const close = server.close.bind(server);
    // Without the timeout, `close` would wait for a client that has sent only a part of its request.
    server.close = (done) => {
      setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS).unref();
      return close(done);
    };
    return server;
  }

  private route(request: IncomingMessage, response: ServerResponse, fastify: RequestListener): void {
    const { mcp, originGuard } = this.routes!;
    const path = pathOf(request.url ?? '/');
    if (path === MCP_PATH) {
      mcp.handle(request, response);
      return;
    }
    const project = PROJECT_PATH.exec(path)?.[1];
    if (project !== undefined) {
      mcp.handle(request, response, project);
      return;
    }
    try {
      originGuard.check(request, response, path);
    } catch (error) {
      writeError(request, response, error);
      return;
    }
    fastify(request, response);
  }
}

const pathOf = (url: string): string => {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
};
