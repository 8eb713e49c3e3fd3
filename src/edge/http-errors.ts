import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { JsonRpcError } from '../mcp/json-rpc-error.js';
import { errorMessage } from '../mcp/json-rpc.js';
import { AuthenticationError } from './auth/authentication-error.js';

/** For how long, and how much of, what a client still sends is taken and thrown away after it was refused. */
const DISCARD_TIMEOUT_MS = 1000;
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/** Answers an exchange that failed before, or apart from, any method. */
export function writeError(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  id?: RequestId,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { http, text } = JsonRpcError.from(error);
  const body = errorMessage(id, text);
  // A body that was not read to its end would be taken for the next request.
  const unread = request.complete ? {} : { connection: 'close' };
  const challenge = error instanceof AuthenticationError ? error.headers : {};
  response.writeHead(http, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...unread,
    ...challenge,
  });
  if (request.complete) response.end(body);
  else endAfterRequest(request, response, body);
}

/**
 * A connection that ends while its client is still sending is reset, and the answer may be lost with it. So the answer
 * goes out first, and the end comes when the client is done with its request, within bounds.
 */
function endAfterRequest(request: IncomingMessage, response: ServerResponse, body: string): void {
  let left = MAX_DISCARDED_BYTES;
  const end = (): void => void response.end();
  const timer = setTimeout(end, DISCARD_TIMEOUT_MS);
  response.once('close', () => clearTimeout(timer));
  response.write(body);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) end();
  });
  request.once('end', end);
}
