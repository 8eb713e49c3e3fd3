import { Injectable, Logger, Optional } from '@nestjs/common';
import { LiveConfig } from '../config/live-config.js';
import type { LogSettings } from '../config/log-settings.js';
import { GatewayError, shorten, type ErrorKind } from '../core/errors.js';
import { JsonText } from '../lib/json-text/json-text.js';
import { TokenBucket } from '../lib/token-bucket/token-bucket.js';
import type { JsonRpcError } from '../mcp/json-rpc-error.js';
import { outcomeOfResult } from '../metrics/call-outcome.js';
import { Metrics } from '../metrics/metrics.js';
import type { McpContext } from '../mcp/mcp-context.js';
import { initializingClient, subjectOf } from './request-subject.js';
import { publicSessionId } from './session.js';

/** The part of a request that log lines contain. `session` is absent in the 2026 era. */
export interface LoggedRequest extends Pick<
  McpContext,
  'method' | 'requestId' | 'paramsText' | 'paramsMembers' | 'server' | 'project' | 'principal' | 'session'
> {
  /** Name and version of the client. */
  readonly clientLabel: string | undefined;
}

/** Failures that operators should know about. All others are mistakes of clients, or errors that a server sent. */
const WARNING_KINDS = new Set<ErrorKind | 'remote'>([
  'server-unavailable',
  'timeout',
  'overloaded',
  'limit-exceeded',
]);

/** Limits the log lines about failures to 50 per second, because a client can cause any number. The rest is counted. */
const FAILURE_LINE_LIMIT = { burst: 50, refill: 50, intervalMs: 1000 };

/** Maximum characters of the reason. The message of an error may be as long as a response of a server. */
const MAX_REASON_LENGTH = 500;
/** Maximum characters of a stack trace: about 30 frames. */
const MAX_STACK_LENGTH = 4000;

/** Logs failed requests, with the cause but without the payload. Logs successful requests as `log.calls` says. */
@Injectable()
export class RequestLog {
  private readonly logger = new Logger('Request');
  private readonly failures = new TokenBucket(FAILURE_LINE_LIMIT);
  /** Every n-th successful request is logged, where n is this number. If it is 0, none is logged. */
  private callInterval = 0;
  private callsSinceLogged = 0;

  constructor(
    @Optional() private readonly metrics: Metrics = new Metrics(),
    @Optional() live?: LiveConfig,
  ) {
    if (!live) return;
    this.configure(live.current.log);
    live.onChange(({ log }) => this.configure(log));
  }

  /** Whether all or some of the successful requests are logged. */
  get logsCalls(): boolean {
    return this.callInterval > 0;
  }

  /** Logs a successful request, or leaves it out if only some of them are logged. */
  logCall(context: LoggedRequest, result: unknown, seconds: number): void {
    if (++this.callsSinceLogged < this.callInterval) return;
    this.callsSinceLogged = 0;
    const outcome = result instanceof JsonText ? outcomeOfResult(result) : 'ok';
    this.logger.log({ message: 'request', ...fieldsOf(context), outcome, durationMs: toMs(seconds) });
  }

  logFailure(context: LoggedRequest, error: JsonRpcError, seconds?: number): void {
    // The number of suppressed lines since the last logged line; undefined if this line is suppressed too.
    const suppressedBefore = this.failures.take();
    if (suppressedBefore === undefined) {
      this.metrics.countSuppressedLine('failed-request');
      return;
    }
    // The error from which the JSON-RPC error was made.
    const original = error.cause as Error;
    const entry = {
      message: 'request failed',
      ...fieldsOf(context, original),
      kind: error.kind,
      code: error.code,
      reason: shorten(original.message, MAX_REASON_LENGTH),
      ...(seconds !== undefined && { durationMs: toMs(seconds) }),
      ...(suppressedBefore > 0 && { suppressed: suppressedBefore }),
    };
    if (error.kind === 'internal') this.logger.error({ ...entry, cause: describe(original.cause) });
    else if (WARNING_KINDS.has(error.kind)) this.logger.warn({ ...entry, cause: describe(original.cause) });
    else this.logger.log(entry);
  }

  private configure({ calls, sample }: LogSettings): void {
    if (calls === 'off') this.callInterval = 0;
    else this.callInterval = calls === 'all' ? 1 : sample;
  }
}

/** The fields of a log line that describe the request. */
function fieldsOf(context: LoggedRequest, error?: Error): object {
  const { method, requestId, server = serverIn(error), project, principal, session, clientLabel } = context;
  return {
    method: shorten(method),
    ...subjectOf(context),
    server,
    requestId: typeof requestId === 'string' ? shorten(requestId) : requestId,
    session: session && publicSessionId(session),
    principal: principal.id,
    project: project && shorten(project),
    client: clientLabel ?? initializingClient(context),
  };
}

/** The server that the error names, if any. */
function serverIn(error: Error | undefined): string | undefined {
  const server = error instanceof GatewayError ? error.data?.['server'] : undefined;
  return typeof server === 'string' ? server : undefined;
}

/** Milliseconds with one decimal place. */
const toMs = (seconds: number): number => Math.round(seconds * 1000 * 10) / 10;

const describe = (cause: unknown): string | undefined =>
  cause instanceof Error ? shorten(cause.stack ?? cause.message, MAX_STACK_LENGTH) : undefined;
