import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { isLoopback } from '../config/loopback.js';
import { MetricsSettings } from '../config/metrics-settings.js';
import { FailedTokens } from './failed-tokens.js';
import { AdminTokens } from './admin-tokens.js';

/** The part of a request that identifies its sender; node:http and Fastify both provide it. */
export interface PeerRequest {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Decides which requests may read `/metrics` and the details of `/health`. */
@Injectable()
export class OperatorAccess {
  constructor(
    private readonly tokens: AdminTokens,
    private readonly metrics: MetricsSettings,
    private readonly failed: FailedTokens,
  ) {}

  async allows({ headers, socket }: PeerRequest): Promise<boolean> {
    if (this.metrics.public || isDirectLoopback(headers, socket.remoteAddress)) return true;
    const { authorization } = headers;
    if (authorization === undefined || !this.failed.allowsAttempt(socket.remoteAddress)) return false;
    if (this.tokens.roleOf(authorization)) return true;
    await this.failed.fail(socket.remoteAddress);
    return false;
  }
}

/** A request through a proxy on this machine counts as remote, because the proxy's client may be. */
function isDirectLoopback(headers: IncomingHttpHeaders, address: string | undefined): boolean {
  const isForwarded = headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;
  return !isForwarded && address !== undefined && isLoopback(address.replace(/^::ffff:/i, ''));
}
