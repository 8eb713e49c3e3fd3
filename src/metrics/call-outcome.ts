import { GatewayError, type ErrorKind } from '../core/errors.js';
import type { JsonText } from '../lib/json-text/json-text.js';

/**
 * How a call to a server ended.
 * - `tool_error`: the tool ran and its result has `isError`
 * - `error`: the server answered with a JSON-RPC error, or the gateway failed
 * - `unavailable`, `timeout`, `overloaded` and `cancelled`: why the call ended without a response of the server
 */
export type CallOutcome =
  'ok' | 'tool_error' | 'error' | 'unavailable' | 'timeout' | 'overloaded' | 'cancelled';

/** By kind of a `GatewayError`. The kinds that are missing here count as `error`. */
const OUTCOMES: Partial<Record<ErrorKind, CallOutcome>> = {
  'server-unavailable': 'unavailable',
  timeout: 'timeout',
  overloaded: 'overloaded',
  cancelled: 'cancelled',
};

/** The outcome of a call with this result. The result is parsed only if its text may have a member `isError`. */
export const outcomeOfResult = (result: JsonText): CallOutcome =>
  result.mayHaveMember('isError') && result.memberText('isError') === 'true' ? 'tool_error' : 'ok';

/** The outcome of a call that threw this error. */
export const outcomeOfFailure = (error: unknown): CallOutcome =>
  (error instanceof GatewayError ? OUTCOMES[error.kind] : undefined) ?? 'error';
