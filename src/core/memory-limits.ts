import { GatewayError, type ErrorKind } from './errors.js';

/** The names of the limits that keep clients and servers from filling the memory. They are values of a metric label. */
export const MEMORY_LIMITS = [
  'client-profile',
  'message-id',
  'progress-token',
  'error-data',
  'handshake-result',
  'request-bodies',
  'long-params',
  'client-requests',
  'link-requests',
  'abandoned-requests',
  'stream-queue',
  'unread-responses',
  'resource-links',
  'list-pages',
  'session-listings',
] as const;
export type MemoryLimit = (typeof MEMORY_LIMITS)[number];

/**
 * The error for a request that a memory limit refuses. The code that turns the error into a response also counts it in the
 * metric `gatehouse_memory_limits_total`.
 */
export class MemoryLimitError extends GatewayError {
  constructor(
    readonly memoryLimit: MemoryLimit,
    limit: number,
    message: string,
    kind: ErrorKind = 'limit-exceeded',
  ) {
    super(kind, `LimitExceeded: ${message}`, { code: 'LimitExceeded', limit });
  }
}
