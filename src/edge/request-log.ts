import { Injectable, Logger } from '@nestjs/common';
import { shorten, type ErrorKind } from '../core/errors.js';
import type { JsonRpcError } from '../mcp/json-rpc-error.js';
import type { RequestContext } from './request-context.js';

/** Failures that concern operators. All others are mistakes of clients, or errors that a server sent. */
const WARNING_KINDS = new Set<ErrorKind | 'remote'>([
  'server-unavailable',
  'timeout',
  'overloaded',
  'limit-exceeded',
]);

/** Logs one line per failed request, with the cause and without the payload. */
@Injectable()
export class RequestLog {
  private readonly logger = new Logger('Request');

  logFailure({ method, session }: RequestContext, error: JsonRpcError): void {
    const cause = error.cause as Error;
    const entry = {
      message: 'request failed',
      method: shorten(method),
      client: session.profile.clientLabel,
      kind: error.kind,
      code: error.code,
      reason: cause.message,
    };
    if (error.kind === 'internal') this.logger.error({ ...entry, cause: describe(cause.cause) });
    else if (WARNING_KINDS.has(error.kind)) this.logger.warn({ ...entry, cause: describe(cause.cause) });
    else this.logger.debug(entry);
  }
}

const describe = (cause: unknown): string | undefined =>
  cause instanceof Error ? (cause.stack ?? cause.message) : undefined;
