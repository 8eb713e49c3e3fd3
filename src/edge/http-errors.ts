import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { JsonRpcError } from '../mcp/json-rpc-error.js';
import { errorMessage } from '../mcp/json-rpc.js';
import { AuthenticationError } from './auth/authentication-error.js';

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
  response.end(body);
}
