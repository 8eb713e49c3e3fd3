import { GatewayError, type ErrorKind } from './errors.js';

/** What is bounded so that no client and no server can fill the memory. The metric of these limits has them as labels. */
export const MEMORY_LIMITS = [
  'client-profile',
  'message-id',
  'progress-token',
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

/** A refusal because of such a limit, which the receiver of the error counts. */
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
