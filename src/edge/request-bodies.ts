import { Injectable } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { Metrics } from '../metrics/metrics.js';
import type { AuthenticatedRequest } from './auth/authentication.guard.js';
import { receiveBody, type BodyReceiver } from './http-request-body.js';
import { MemoryClaims, REQUEST_BODY_LIMITS } from './memory-claims.js';

/** Reads the bodies of MCP requests, and limits the memory of bodies that are being received. */
@Injectable()
export class RequestBodies {
  private readonly claims = new MemoryClaims(REQUEST_BODY_LIMITS);

  constructor(
    private readonly limits: Limits,
    private readonly metrics: Metrics,
  ) {}

  /** Reads the body as JSON. Fails if the client disconnects, or if a memory limit is reached. */
  read(request: AuthenticatedRequest, receiver: BodyReceiver): void {
    const claim = (bytes: number): (() => void) => this.claim(request.quotaKey, bytes);
    receiveBody(request, this.limits.requestBytes, receiver, claim);
  }

  private claim(quotaKey: string, bytes: number): () => void {
    try {
      return this.claims.claim(quotaKey, bytes);
    } catch (error) {
      this.metrics.countMemoryLimit(REQUEST_BODY_LIMITS.limit);
      throw error;
    }
  }
}
