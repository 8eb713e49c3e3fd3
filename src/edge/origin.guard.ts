import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { HttpSettings } from '../config/http-settings.js';
import { GatewayError, type ErrorKind } from '../core/errors.js';
import type { OriginRefusal } from '../metrics/metric-labels.js';
import { Metrics } from '../metrics/metrics.js';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const WILDCARD_ADDRESSES = new Set(['0.0.0.0', '::', '[::]']);
/** Paths that orchestrators request by IP address, so any Host is allowed. Their responses contain nothing confidential. */
const PROBES = new Set(['/health/live', '/health/ready', '/health/startup']);

/**
 * Refuses requests with several Host headers, or whose Host or Origin is not allowed (DNS rebinding), and lets pages of an
 * allowed origin read the response (CORS). `@HttpGuards` runs the guard before the methods of `McpEndpoint`. `GatewayServer`
 * calls `check` before all other requests: Fastify reads the body before Nest's guards run, and answers unknown paths
 * without guards.
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

  check(request: IncomingMessage, response: ServerResponse, path?: string): void {
    const { host, origin } = request.headers;
    if (hasSeveralHosts(request))
      throw this.refuse('several-hosts', 'bad-request', 'Bad request: several Host headers');
    if (!this.allowed.allowsHost(host) && !PROBES.has(path ?? ''))
      throw this.forbid('host', 'the Host header names no host of this gateway (see http.allowedHosts)');
    if (!this.allowed.allowsOrigin(origin))
      throw this.forbid('origin', 'requests of this Origin are not allowed (see http.allowedOrigins)');
    if (origin !== undefined) setCorsHeaders(response, origin);
  }

  private forbid(header: 'host' | 'origin', why: string): GatewayError {
    return this.refuse(header, 'forbidden', `Forbidden: ${why}`);
  }

  private refuse(reason: OriginRefusal, kind: ErrorKind, message: string): GatewayError {
    this.metrics.countOriginRefusal(reason);
    return new GatewayError(kind, message);
  }
}

/**
 * A request with several Host headers must be refused (RFC 9112, 3.2): Node's `headers` contain only the first one, and a
 * proxy may have checked another.
 */
function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
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
 * Hosts and origins that may reach the gateway; with empty lists, loopback only. This prevents DNS rebinding: a page
 * whose host name resolves to the gateway still sends that name in Host and Origin.
 */
export class AllowedOrigins {
  private readonly hosts: ReadonlySet<string>;
  private readonly origins: ReadonlySet<string>;
  /** The last allowed Host header, cached because most requests have the same. */
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
   * A request without Origin is allowed: browsers send Origin with every POST, and with every request whose response a
   * page of another site may read.
   */
  allowsOrigin(origin: string | undefined): boolean {
    if (origin === undefined) return true;
    const name = origin.toLowerCase();
    if (this.origins.has(name)) return true;
    // A page of a program on the same machine, at any port.
    const match = /^https?:\/\/([^/?#@]+)$/.exec(name);
    return match !== null && LOOPBACK_NAMES.includes(withoutPort(match[1]!));
  }
}

/** In a Host header, an IPv6 address is in brackets, because a colon begins the port. */
const bracketed = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

const withoutPort = (host: string): string => host.replace(/:\d{1,5}$/, '');
