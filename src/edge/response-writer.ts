import type { ServerResponse } from 'node:http';
import type { UnreadResponses } from './unread-responses.js';

/*
 * These functions run in setImmediate, after all messages that have arrived were processed (docs/decisions/0015). They send
 * the status that is set on the response.
 */

export const lengthOf = (parts: readonly Buffer[]): number =>
  parts.reduce((sum, { length }) => sum + length, 0);

export function writeJson(
  response: ServerResponse,
  body: string,
  unread: Pick<UnreadResponses, 'watch'>,
  onWritten?: () => void,
): void {
  if (!response.destroyed) {
    const length = Buffer.byteLength(body);
    response.writeHead(response.statusCode, { 'content-type': 'application/json', 'content-length': length });
    // `end(body)` would pass an empty second chunk to the socket, which then needs a writev instead of a plain write.
    const { socket } = response;
    socket?.cork();
    // For ASCII, latin1 gives the same bytes and is faster.
    response.write(body, length === body.length ? 'latin1' : 'utf8');
    socket?.uncork();
    response.end();
    unread.watch(response);
  }
  onWritten?.();
}

export function writeParts(
  response: ServerResponse,
  parts: readonly Buffer[],
  unread: Pick<UnreadResponses, 'watch'>,
): void {
  if (response.destroyed) return;
  response.writeHead(response.statusCode, {
    'content-type': 'application/json',
    'content-length': lengthOf(parts),
  });
  response.cork();
  for (const part of parts) response.write(part);
  response.end();
  response.uncork();
  unread.watch(response);
}
