import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { HttpSettings } from '../config/http-settings.js';
import { GatewayError, type ErrorKind } from '../core/errors.js';
import type { OriginRefusal } from '../metrics/metric-labels.js';
import { Metrics } from '../metrics/metrics.js';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const WILDCARD_ADDRESSES = new Set(['0.0.0.0', '::', '[::]']);
/**
 * Orchestrators request these paths by IP address, so any Host is allowed. The responses contain nothing confidential.
 */
const PROBE_PATHS = new Set(['/health/live', '/health/ready', '/health/startup']);

/**
 * Refuses requests whose Host or Origin is not allowed (DNS rebinding), and requests with several Host headers. Allows
 * pages of an allowed origin to read the response (CORS). For requests to `McpEndpoint`, `@HttpGuards` runs this guard.
 * For all other requests, `GatewayServer` calls `check`, because Fastify reads the body before Nest's guards run, and
 * answers unknown paths without guards.
 */
@Injectable()
export class OriginGuard implements CanActivate {
  private readonly allowed: AllowedOrigins;

  constructor(
    settings: HttpSettings,
    private readonly metrics: Metrics,
  ) {
    this.allowed = new AllowedOrigins(settings);
  }

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    this.check(http.getRequest<IncomingMessage>(), http.getResponse<ServerResponse>());
    return true;
  }

  /**
   * Throws if the request is refused. Otherwise sets the CORS headers. `path` is absent for requests to the MCP
   * endpoint.
   */
  check(request: IncomingMessage, response: ServerResponse, path?: string): void {
    const { host, origin } = request.headers;
    if (hasSeveralHosts(request))
      throw this.refuse('several-hosts', 'bad-request', 'Bad request: several Host headers');
    if (!this.allowed.allowsHost(host) && !PROBE_PATHS.has(path ?? ''))
      throw this.forbid('host', 'the Host header names no host of this gateway (see http.allowedHosts)');
    if (!this.allowed.allowsOrigin(origin))
      throw this.forbid('origin', 'requests of this Origin are not allowed (see http.allowedOrigins)');
    if (origin !== undefined) setCorsHeaders(response, origin);
  }

  private forbid(header: 'host' | 'origin', explanation: string): GatewayError {
    return this.refuse(header, 'forbidden', `Forbidden: ${explanation}`);
  }

  /** Counts the refusal. Returns the error for the client. */
  private refuse(reason: OriginRefusal, kind: ErrorKind, message: string): GatewayError {
    this.metrics.countOriginRefusal(reason);
    return new GatewayError(kind, message);
  }
}

/**
 * A request with several Host headers must be refused (RFC 9112, 3.2): Node's `headers` contain only the first one, and
 * a proxy may have checked another. `rawHeaders` has names at even and values at odd positions.
 */
function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let hostCount = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hostCount++;
  }
  return hostCount > 1;
}

function setCorsHeaders(response: ServerResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader(
    'access-control-expose-headers',
    'mcp-session-id, mcp-protocol-version, www-authenticate',
  );
  response.setHeader('vary', 'origin');
}

/**
 * The hosts and origins that may reach the gateway. Loopback and the address on which the gateway listens are always
 * allowed. Refusing all others prevents DNS rebinding: a page whose host name resolves to the gateway sends that name in
 * Host and Origin.
 */
export class AllowedOrigins {
  private readonly hosts: ReadonlySet<string>;
  private readonly origins: ReadonlySet<string>;
  /** The last allowed Host header. It is cached because most requests have the same Host. */
  private lastHost: string | undefined;

  constructor(settings: {
    host: string;
    allowedHosts: readonly string[];
    allowedOrigins: readonly string[];
  }) {
    const listening = WILDCARD_ADDRESSES.has(settings.host) ? [] : [bracketed(settings.host)];
    this.hosts = new Set(
      [...LOOPBACK_NAMES, ...listening, ...settings.allowedHosts.map(bracketed)].map((name) =>
        name.toLowerCase(),
      ),
    );
    this.origins = new Set(settings.allowedOrigins.map((origin) => origin.toLowerCase()));
  }

  allowsHost(host: string | undefined): boolean {
    if (host === undefined) return false;
    if (host === this.lastHost) return true;
    const name = host.toLowerCase();
    if (!this.hosts.has(name) && !this.hosts.has(withoutPort(name))) return false;
    this.lastHost = host;
    return true;
  }

  /**
   * A request without Origin is allowed, because it is no danger: browsers send Origin with every POST, and with every
   * request whose response a page of another site could read.
   */
  allowsOrigin(origin: string | undefined): boolean {
    if (origin === undefined) return true;
    const name = origin.toLowerCase();
    if (this.origins.has(name)) return true;
    // A program on the same machine may serve pages at any port.
    const match = /^https?:\/\/([^/?#@]+)$/.exec(name);
    return match !== null && LOOPBACK_NAMES.includes(withoutPort(match[1]!));
  }
}

/** In a Host header, an IPv6 address is in brackets, because a colon begins the port. */
const bracketed = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

const withoutPort = (host: string): string => host.replace(/:\d{1,5}$/, '');
