import type { ServerResponse } from 'node:http';
import type { UnreadResponses } from './unread-responses.js';

/*
 * Callers run `writeJson` and `writeParts` in setImmediate, after all messages that have arrived were processed
 * (docs/decisions/0015). Both functions send the status code that callers have set on the response.
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
    // `end` writes an empty chunk too if it has a body, or if the body of `write` is still unsent. Then the socket needs a
    // writev instead of a write. Without `cork` and `uncork`, `write` would not send the body before the next tick.
    const { socket } = response;
    socket?.cork();
    // The body is ASCII if it has as many bytes as characters. Then latin1 gives the same bytes as UTF-8 and is faster.
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
