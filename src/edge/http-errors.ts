import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Era } from '../core/errors.js';
import { JsonRpcError } from '../mcp/json-rpc-error.js';
import { errorMessage } from '../mcp/json-rpc.js';
import { AuthenticationError } from './auth/auth-errors.js';

/** Limits for reading and discarding the rest of the body of a refused request. */
const DISCARD_TIMEOUT_MS = 1000;
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;

/** Responds with a JSON-RPC error to an HTTP request that failed outside the handler of an MCP method. */
export function writeError(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  id?: RequestId,
  era?: Era,
): void {
  const { http, text } = JsonRpcError.from(error, era);
  const challenge = error instanceof AuthenticationError ? error.headers : {};
  const headers = { 'content-type': 'application/json', ...challenge };
  writeRefusal(request, response, { status: http, headers, body: errorMessage(id, text) });
}

interface Refusal {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

/** Responds to a request whose body may not have been read. */
export function writeRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Refusal,
): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  // If the body was not read to its end, the connection cannot be used again: the rest of the body would be parsed as the
  // next request.
  const connection = request.complete ? {} : { connection: 'close' };
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body), ...connection });
  if (request.complete) response.end(body);
  else endAfterRequest(request, response, body);
}

/**
 * Writes the response at once, and closes the connection after the rest of the request was read, within limits. Closing
 * a connection while the client is still sending would reset it, and the client could lose the response.
 */
function endAfterRequest(request: IncomingMessage, response: ServerResponse, body: string): void {
  let remainingBytes = MAX_DISCARDED_BYTES;
  const end = (): void => void response.end();
  const timer = setTimeout(end, DISCARD_TIMEOUT_MS);
  response.once('close', () => clearTimeout(timer));
  response.write(body);
  request.on('data', (chunk: Buffer) => {
    remainingBytes -= chunk.length;
    if (remainingBytes < 0) end();
  });
  request.once('end', end);
}
