import type { GatewayError } from '../../core/errors.js';
import { downError, failureCauseOf, type FailureCause } from '../link/failure-cause.js';
import { isReinitializing, type ConnectionStatus } from './connection-state.js';

/** The shortest `retryAfterMs` of an error. With a shorter one, clients would call again before a link can be open. */
const MIN_RETRY_AFTER_MS = 100;

/**
 * The error with which a call fails now; undefined when the server is ready, or when calls wait until a link with a new session
 * is open.
 */
export function unavailableErrorOf(
  server: string,
  status: ConnectionStatus,
  now: number,
): GatewayError | undefined {
  const { state, error, nextAttemptAt } = status;
  if (state === 'ready' || isReinitializing(status)) return undefined;
  const retryAfterMs = nextAttemptAt && Math.max(nextAttemptAt - now, MIN_RETRY_AFTER_MS);
  const reason = causeOf(status) ?? (state === 'connecting' ? 'starting' : 'disabled');
  return downError(server, reason, { retryAfterMs, cause: error });
}

/** Why the server cannot be used; while connecting, why the previous link or attempt failed. */
export function causeOf({ state, error }: ConnectionStatus): FailureCause | undefined {
  if (state === 'unresponsive') return 'unresponsive';
  return error && failureCauseOf(error);
}
