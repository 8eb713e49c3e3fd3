import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';

/** The body as text. Stops reading at the limit, wherever the length was or was not announced. */
export function readBody(request: IncomingMessage, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isOver = false;
    const stop = (): void => {
      isOver = true;
      // The request lives as long as its answer takes, and would hold the body all that time.
      request.off('data', onData);
    };
    const tooLarge = (): void => {
      stop();
      reject(new GatewayError('payload-too-large', `The body is larger than ${limit} bytes`));
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) tooLarge();
      else chunks.push(chunk);
    };
    if (Number(request.headers['content-length']) > limit) {
      tooLarge();
      return;
    }
    request.on('data', onData);
    request.on('end', () => {
      if (isOver) return;
      stop();
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
      // It is dealt with when all that has arrived was read (docs/decisions/0015).
      setImmediate(() => {
        if (isUtf8(bytes)) resolve(bytes.toString());
        else reject(new GatewayError('parse-error', 'The body is not valid UTF-8'));
      });
    });
    // A request that breaks off is closed too; without anybody who listens for it there is no error.
    request.on('close', () => {
      if (!isOver) reject(new GatewayError('bad-request', 'The body ended early'));
    });
  });
}
