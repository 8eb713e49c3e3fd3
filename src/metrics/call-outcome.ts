import { GatewayError, RemoteError, type ErrorKind } from '../core/errors.js';
import { memberText, type JsonText } from '../lib/json-text/json-text.js';

/**
 * - `tool_error`: the tool ran, and says itself that it failed
 * - `error`: the server answered with an error of the protocol, or what went wrong is nobody else's
 * - the others: the call has no answer, because of what the word says
 */
export type CallOutcome =
  'ok' | 'tool_error' | 'error' | 'unavailable' | 'timeout' | 'overloaded' | 'cancelled';

const OUTCOMES: Partial<Record<ErrorKind, CallOutcome>> = {
  'server-unavailable': 'unavailable',
  timeout: 'timeout',
  overloaded: 'overloaded',
  cancelled: 'cancelled',
};

/** Results are not parsed: one that does not even hold the word is none of a failed tool. */
export const outcomeOfResult = ({ text }: JsonText): CallOutcome =>
  text.includes('"isError"') && memberText(text, 'isError') === 'true' ? 'tool_error' : 'ok';

export function outcomeOfFailure(error: unknown): CallOutcome {
  if (error instanceof RemoteError || !(error instanceof GatewayError)) return 'error';
  return OUTCOMES[error.kind] ?? 'error';
}
