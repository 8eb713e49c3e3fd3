import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { GatewayError } from '../core/errors.js';
import { ANONYMOUS } from '../mcp/principal.js';
import { Metrics } from '../metrics/metrics.js';
import { PrincipalQuota } from '../state/principal-quota.js';
import { Quotas } from '../state/quotas.js';
import type { AuthenticatedRequest } from './auth/authentication.guard.js';
import { ClientAddresses } from './client-addresses.js';
import type { PipeliningLimit } from './request-admission.js';

const TOO_MANY_CONNECTIONS_RESPONSE =
  'HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';

/**
 * Limits the connections of each principal, and sets the quota key of every MCP request. A new connection counts for
 * its remote address. After its first authenticated request, it counts for the principal of its latest request.
 */
@Injectable()
export class ConnectionGuard implements CanActivate {
  private readonly quota: PrincipalQuota;
  /** By open connection: the quota key under which it counts. */
  private readonly quotaKeys = new WeakMap<Socket, string>();

  constructor(
    private readonly addresses: ClientAddresses,
    limits: Limits,
    quotas: Quotas,
    private readonly metrics: Metrics,
  ) {
    const limit = { name: 'connections', limit: limits.connectionsPerPrincipal, noun: 'connections' };
    this.quota = new PrincipalQuota(quotas, limit, () => metrics.countRefusal('connectionsPerPrincipal'));
  }

  /** Call this with every new connection. Refuses the connection if its remote address has too many. */
  accept(socket: Socket): void {
    socket.once('close', () => {
      const key = this.quotaKeys.get(socket);
      if (key !== undefined) this.quota.release(key);
    });
    const key = this.addresses.quotaKeyOfPeer(socket);
    if (key === undefined) return;
    if (this.quota.claim(key)) {
      this.quotaKeys.set(socket, key);
      return;
    }
    this.quota.refuse();
    socket.write(TOO_MANY_CONNECTIONS_RESPONSE);
    socket.destroySoon();
  }

  /** Closes the connection of a client that has sent too many requests without waiting for the responses. */
  refusePipelined(socket: Socket, limit: PipeliningLimit): void {
    this.metrics.countRefusal(limit);
    socket.destroy();
  }

  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const request = http.getRequest<AuthenticatedRequest>();
    const { principal } = request;
    request.quotaKey = principal === ANONYMOUS ? this.addresses.quotaKeyOf(request) : principal.id;
    this.assign(request, http.getResponse<ServerResponse>());
    return true;
  }

  /** Counts the connection for the principal of its request. Throws if that principal has too many connections. */
  private assign({ socket, quotaKey }: AuthenticatedRequest, response: ServerResponse): void {
    const previous = this.quotaKeys.get(socket);
    if (previous === quotaKey || socket.destroyed) return;
    if (!this.quota.claim(quotaKey)) {
      response.setHeader('connection', 'close');
      const { message, data } = this.quota.refuse();
      throw new GatewayError('too-many-connections', message, data);
    }
    if (previous !== undefined) this.quota.release(previous);
    this.quotaKeys.set(socket, quotaKey);
  }
}
