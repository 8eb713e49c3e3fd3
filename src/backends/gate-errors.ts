import { GatewayError } from '../core/errors.js';
import type { CancelSignal } from '../lib/cancellation/cancellation.js';

/** The errors of calls that a call gate refuses, or that end in its queue. */
export class GateErrors {
  constructor(private readonly server: string) {}

  /** The queue is full. */
  overloaded(limit: number, retryAfterMs: number): GatewayError {
    const { server } = this;
    return new GatewayError('overloaded', `Overloaded: server ${server} already has ${limit} calls waiting`, {
      code: 'Overloaded',
      server,
      limit,
      retryAfterMs,
    });
  }

  /** The principal has too many queued calls. */
  queuedPerPrincipal(limit: number, retryAfterMs: number): GatewayError {
    const { server } = this;
    return new GatewayError(
      'limit-exceeded',
      `LimitExceeded: ${limit} calls of this principal wait for server ${server}`,
      { code: 'LimitExceeded', server, limit, retryAfterMs },
    );
  }

  cancelled(signal: CancelSignal | undefined): GatewayError {
    const { server } = this;
    return new GatewayError(
      'cancelled',
      `CANCELLED: the call was cancelled before it was sent to server ${server}`,
      { code: 'CANCELLED', server },
      { cause: signal?.reason },
    );
  }

  timedOut(): GatewayError {
    const { server } = this;
    return new GatewayError(
      'timeout',
      `TIMEOUT: the call waited in the queue of server ${server} until its timeout`,
      { code: 'TIMEOUT', server },
    );
  }
}
