import type { IncomingHttpHeaders } from 'node:http';
import { Injectable } from '@nestjs/common';
import { isLoopback } from '../config/loopback.js';
import { MetricsSettings } from '../config/metrics-settings.js';
import { AdminToken } from './admin-token.js';

/** As much of a request as tells who sends it: Node's own, or what a framework made of it. */
export interface PeerRequest {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Who may see how the gateway is doing: `/metrics` and the whole of `/health`. */
@Injectable()
export class OperatorAccess {
  constructor(
    private readonly tokens: AdminToken,
    private readonly metrics: MetricsSettings,
  ) {}

  allows({ headers, socket }: PeerRequest): boolean {
    if (this.metrics.public || isDirectLoopback(headers, socket.remoteAddress)) return true;
    return this.tokens.roleOf(headers.authorization) !== undefined;
  }
}

/** A proxy on this machine is loopback too, but whoever it speaks for is not: what it forwards counts as remote. */
function isDirectLoopback(headers: IncomingHttpHeaders, address: string | undefined): boolean {
  const isForwarded = headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;
  return !isForwarded && address !== undefined && isLoopback(address.replace(/^::ffff:/i, ''));
}
