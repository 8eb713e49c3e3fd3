import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { HttpSettings } from '../config/http-settings.js';
import { GatewayError } from '../core/errors.js';
import { AllowedOrigins } from './allowed-origins.js';

/** Orchestrators call these by address. Their answers hold nothing that a foreign web page may not read. */
const PROBES = new Set(['/health/live', '/health/ready', '/health/startup']);

/**
 * Refuses requests whose Host or Origin is not allowed (DNS rebinding), and lets pages of an allowed origin read the
 * answer. Nest runs it before the methods of `McpEndpoint`. `GatewayServer` runs `check` before every other request,
 * because Fastify reads the body before Nest's guards run and answers unknown paths without them.
 */
@Injectable()
export class OriginGuard implements CanActivate {
  private readonly allowed: AllowedOrigins;

  constructor(settings: HttpSettings) {
    this.allowed = new AllowedOrigins(settings);
  }

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    this.check(http.getRequest<IncomingMessage>(), http.getResponse<ServerResponse>());
    return true;
  }

  check(request: IncomingMessage, response: ServerResponse, path?: string): void {
    const { host, origin } = request.headers;
    if (!this.allowed.allowsHost(host) && !PROBES.has(path ?? ''))
      throw forbidden('the Host header names no host of this gateway (see http.allowedHosts)');
    if (!this.allowed.allowsOrigin(origin))
      throw forbidden('requests of this Origin are not allowed (see http.allowedOrigins)');
    if (origin !== undefined) allowReading(response, origin);
  }
}

const forbidden = (reason: string): GatewayError => new GatewayError('forbidden', `Forbidden: ${reason}`);

function allowReading(response: ServerResponse, origin: string): void {
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader(
    'access-control-expose-headers',
    'mcp-session-id, mcp-protocol-version, www-authenticate',
  );
  response.setHeader('vary', 'origin');
}
