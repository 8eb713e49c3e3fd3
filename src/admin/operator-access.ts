import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { isLoopback } from '../config/loopback.js';
import { MetricsSettings } from '../config/metrics-settings.js';
import type { PeerRequest } from '../edge/client-addresses.js';
import { FailedTokens } from './failed-tokens.js';
import { AdminTokens } from './admin-tokens.js';

export type AccessCheckResult = 'allowed' | 'no-token' | 'invalid-token' | 'too-many-attempts';

/** Decides which requests may read `/metrics` and the details of `/health`. */
@Injectable()
export class OperatorAccess {
  constructor(
    private readonly tokens: AdminTokens,
    private readonly metrics: MetricsSettings,
    private readonly failedTokens: FailedTokens,
  ) {}

  async check(request: PeerRequest): Promise<AccessCheckResult> {
    const { headers, socket } = request;
    if (this.metrics.public || isDirectLoopback(headers, socket.remoteAddress)) return 'allowed';
    const { authorization } = headers;
    if (authorization === undefined) return 'no-token';
    if (!this.failedTokens.allowsAttempt(request)) return 'too-many-attempts';
    if (this.tokens.roleOf(authorization)) return 'allowed';
    await this.failedTokens.recordFailure(request);
    return 'invalid-token';
  }
}

/** A request through a proxy on this machine counts as remote, because the client of the proxy may be remote. */
function isDirectLoopback(headers: IncomingHttpHeaders, address: string | undefined): boolean {
  const isForwarded = headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;
  return !isForwarded && address !== undefined && isLoopback(address.replace(/^::ffff:/i, ''));
}
