import { GatewayError, serverUnavailable } from '../core/errors.js';
import { TransportError, type TransportFault } from './link/transport.js';

export const isTimeout = (error: unknown): boolean =>
  error instanceof GatewayError && error.kind === 'timeout';

export const hasFault = (error: unknown, fault: TransportFault): boolean =>
  error instanceof TransportError && error.fault === fault;

/** What a caller is told of a fault of the wire; any other error is passed on as it is. */
export function toCallError(server: string, error: unknown): unknown {
  if (!(error instanceof TransportError)) return error;
  if (error.fault !== 'busy') return serverUnavailable(server, error.message, { cause: error });
  const data = { code: 'Overloaded', server };
  return new GatewayError('overloaded', `Overloaded: server ${server} ${error.message}`, data, {
    cause: error,
  });
}
