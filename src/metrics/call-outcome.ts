import { GatewayError, RemoteError, type ErrorKind } from '../core/errors.js';
import type { JsonText } from '../lib/json-text/json-text.js';

/**
 * - `tool_error`: the tool ran and its result has `isError`
 * - `error`: the server answered with a JSON-RPC error, or the gateway failed
 * - the others: the call has no result for the named reason
 */
export type CallOutcome =
  'ok' | 'tool_error' | 'error' | 'unavailable' | 'timeout' | 'overloaded' | 'cancelled';

const OUTCOMES: Partial<Record<ErrorKind, CallOutcome>> = {
  'server-unavailable': 'unavailable',
  timeout: 'timeout',
  overloaded: 'overloaded',
  cancelled: 'cancelled',
};

/** The members of a result are read only if its text contains `isError`, or escapes with which it may be written. */
export const outcomeOfResult = (result: JsonText): CallOutcome =>
  result.mayHaveMember('isError') && result.memberText('isError') === 'true' ? 'tool_error' : 'ok';

export function outcomeOfFailure(error: unknown): CallOutcome {
  if (error instanceof RemoteError || !(error instanceof GatewayError)) return 'error';
  return OUTCOMES[error.kind] ?? 'error';
}
