import { Injectable } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import type { ReadJson } from '../lib/json-text/json-reader.js';
import { Metrics } from '../metrics/metrics.js';
import type { AuthenticatedRequest } from './auth/authentication.guard.js';
import { readBody } from './http-request.js';
import { MemoryClaims, REQUEST_BODIES } from './memory-claims.js';

/** Reads the bodies of MCP requests, and limits the memory of bodies that are being received. */
@Injectable()
export class RequestBodies {
  private readonly claims = new MemoryClaims(REQUEST_BODIES);

  constructor(
    private readonly limits: Limits,
    private readonly metrics: Metrics,
  ) {}

  /** Resolves with the JSON or its problem. Rejects if the client disconnects, or if a memory limit is reached. */
  read(request: AuthenticatedRequest): Promise<ReadJson> {
    return readBody(request, this.limits.requestBytes, (bytes) => this.claim(request.quotaKey, bytes));
  }

  private claim(quotaKey: string, bytes: number): () => void {
    try {
      return this.claims.claim(quotaKey, bytes);
    } catch (error) {
      this.metrics.countMemoryLimit(REQUEST_BODIES.limit);
      throw error;
    }
  }
}
