import { serverUnavailable, type GatewayError } from '../../core/errors.js';
import { unavailableReason } from '../link/link-errors.js';
import { isReinitializing, type ConnectionStatus } from './connection-state.js';

/** Shorter delays would make clients call again before a link can be open. */
const MIN_RETRY_AFTER_MS = 100;

/** The error with which a call fails now; undefined when the server is ready or calls wait for a new session. */
export function unavailableErrorOf(
  server: string,
  status: ConnectionStatus,
  now: number,
): GatewayError | undefined {
  const { state, cause, nextAttemptAt } = status;
  if (state === 'ready' || isReinitializing(status)) return undefined;
  const retryAfterMs = nextAttemptAt && Math.max(nextAttemptAt - now, MIN_RETRY_AFTER_MS);
  return serverUnavailable(server, cause?.message ?? state, {
    reason: reasonOf(status),
    retryAfterMs,
    cause,
  });
}

function reasonOf({ state, cause }: ConnectionStatus): ReturnType<typeof unavailableReason> {
  if (state === 'unresponsive') return 'unresponsive';
  if (cause) return unavailableReason(cause);
  return state === 'connecting' ? 'starting' : 'disabled';
}
