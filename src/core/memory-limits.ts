import { GatewayError, type ErrorKind } from './errors.js';

/** The limits that keep clients and servers from filling the memory, as the metric labels them. */
export const MEMORY_LIMITS = [
  'client-profile',
  'message-id',
  'progress-token',
  'error-data',
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

/** A refusal because of a memory limit. It is counted where it is turned into a response. */
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
