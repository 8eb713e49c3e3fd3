import { brokenError } from '../link/link-faults.js';
import { TransportError } from '../link/transport.js';

export const tooLarge = (limit: number): TransportError =>
  new TransportError('too-large', `the server sent a message of more than ${limit} bytes`);

export const sessionLost = (): TransportError =>
  new TransportError('session-lost', 'the server has lost our session', { httpStatus: 404 });

export const closed = (): TransportError => brokenError('the transport is closed');

/** A request that never reached a connection was not delivered; of one that did, nobody knows. */
export function connectionFault(cause: Error, wasSent: boolean): TransportError {
  return wasSent
    ? brokenError(`the connection was lost before the answer: ${reason(cause)}`, { cause })
    : new TransportError('unreachable', `cannot connect: ${reason(cause)}`, {}, { cause });
}

/** Codes and not messages, which name addresses that a client need not know. */
function reason(cause: Error & { code?: unknown }): string {
  return typeof cause.code === 'string' && cause.code !== 'UND_ERR_SOCKET' ? cause.code : cause.message;
}
