import { GatewayError, type ErrorKind } from './errors.js';

/** The limits that keep clients and servers from filling the memory, by their label in the metric. */
export const MEMORY_LIMITS = [
  'client-profile',
  'message-id',
  'progress-token',
  'error-data',
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

/** A refusal because of a memory limit. The receiver of the error counts it. */
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
