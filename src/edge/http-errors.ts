import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { JsonRpcError } from '../mcp/json-rpc-error.js';
import { errorMessage } from '../mcp/json-rpc.js';
import { AuthenticationError } from './auth/auth-errors.js';

/** Limits for reading and discarding the rest of the body of a refused request. */
const DISCARD_TIMEOUT_MS = 1000;
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/** Answers a failure of the exchange itself, outside any MCP method. */
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
  // The unread rest of a body would be parsed as the next request.
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
 * Closing a connection while the client is still sending resets it, and the client may lose the answer. So the answer is
 * written at once, and the connection is closed after the rest of the request was read, within limits.
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
