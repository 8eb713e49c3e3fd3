import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';

/** The body as text. Stops reading at the limit, with or without a Content-Length. */
export function readBody(request: IncomingMessage, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isOver = false;
    const stop = (): void => {
      isOver = true;
      // The listener holds the body, and the request is referenced until it is answered.
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
      // Processed after everything that has arrived was read (docs/decisions/0015).
      setImmediate(() => {
        if (isUtf8(bytes)) resolve(bytes.toString());
        else reject(new GatewayError('parse-error', 'The body is not valid UTF-8'));
      });
    });
    // An aborted request emits 'close'; without a listener for 'error' it emits no error.
    request.on('close', () => {
      if (!isOver) reject(new GatewayError('bad-request', 'The body ended early'));
    });
  });
}
