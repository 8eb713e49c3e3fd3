import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { GatewayError } from '../core/errors.js';
import type { AllowedOrigins } from './allowed-origins.js';
import { writeError } from './http-errors.js';
import { DeadPeerDetector } from './dead-peer-detector.js';

/** Where MCP requests go. */
export interface McpRequestListener {
  handle(request: IncomingMessage, response: ServerResponse, project?: string): void;
}

const MCP_PATH = '/mcp';
/** Project ids need no escaping in a path; whatever needs it names no project. */
const PROJECT_PATH = /^\/projects\/([^/]+)\/mcp$/;
/** Orchestrators call these by address; they say nothing that a web page could not know. */
const PROBES = new Set(['/health/live', '/health/ready', '/health/startup']);
/** Longer than the idle timeouts of common load balancers, so that they and not we close idle connections. */
const KEEP_ALIVE_MS = 75_000;
/**
 * A client whose machine or network vanished says nothing. Where nothing is sent to it either, the operating system asks
 * after this long a silence, and again until it gives the connection up; for the rest there are `DeadPeerDetector`.
 */
const TCP_KEEP_ALIVE_DELAY_MS = 30_000;
/** What is left to read after the last answer must be read within this time when the gateway ends. */
const CLOSE_TIMEOUT_MS = 500;

/**
 * The one door. Every request on every path is checked here for its Host and Origin; MCP requests go straight to their
 * endpoint, because a web framework's request and reply objects would cost more than all the rest of a call; everything
 * else goes to Nest.
 */
export class HttpGate {
  private endpoint: McpRequestListener | undefined;

  constructor(
    private readonly allowed: AllowedOrigins,
    private readonly lost = new DeadPeerDetector(),
  ) {}

  /** Lets MCP requests in. Until then there are none: the server does not listen yet. */
  open(endpoint: McpRequestListener): void {
    this.endpoint = endpoint;
  }

  server(others: RequestListener): Server {
    const options = {
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_DELAY_MS,
    };
    const server = createServer(options, (request, response) => this.enter(request, response, others));
    this.lost.watch(server);
    const close = server.close.bind(server);
    // Node waits for all connections but idle ones, and one that has not sent a whole request yet is not idle to it.
    server.close = (done) => {
      setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS).unref();
      return close(done);
    };
    return server;
  }

  private enter(request: IncomingMessage, response: ServerResponse, others: RequestListener): void {
    const path = pathOf(request.url ?? '/');
    const { host, origin } = request.headers;
    if (!PROBES.has(path) && !this.allowed.allowsHost(host)) {
      refuse(request, response, 'the Host header names no host of this gateway (see http.allowedHosts)');
      return;
    }
    if (!this.allowed.allowsOrigin(origin)) {
      refuse(request, response, 'requests of this Origin are not allowed (see http.allowedOrigins)');
      return;
    }
    if (origin !== undefined) allowReading(response, origin);
    if (path === MCP_PATH) {
      this.endpoint?.handle(request, response);
      return;
    }
    const project = PROJECT_PATH.exec(path)?.[1];
    if (project === undefined) others(request, response);
    else this.endpoint?.handle(request, response, project);
  }
}

const pathOf = (url: string): string => {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
};

function refuse(request: IncomingMessage, response: ServerResponse, why: string): void {
  writeError(request, response, new GatewayError('forbidden', `Forbidden: ${why}`));
}

/** The page's origin was found allowed: its browser may show it the answer. */
function allowReading(response: ServerResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader(
    'access-control-expose-headers',
    'mcp-session-id, mcp-protocol-version, www-authenticate',
  );
  response.setHeader('vary', 'origin');
}
