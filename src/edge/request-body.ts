import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';

/** The body as text. Stops reading at the limit, wherever the length was or was not announced. */
export function readBody(request: IncomingMessage, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stopReading = (): void => {
      request.off('data', onData).off('end', onEnd).off('error', reject).off('close', onClose);
    };
    const tooLarge = (): void => {
      stopReading();
      reject(new GatewayError('payload-too-large', `The body is larger than ${limit} bytes`));
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) tooLarge();
      else chunks.push(chunk);
    };
    const onEnd = (): void => {
      stopReading();
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
      // It is dealt with when all that has arrived was read (docs/decisions/0015).
      setImmediate(() => {
        if (isUtf8(bytes)) resolve(bytes.toString());
        else reject(new GatewayError('parse-error', 'The body is not valid UTF-8'));
      });
    };
    const onClose = (): void => reject(new GatewayError('bad-request', 'The body ended early'));
    if (Number(request.headers['content-length']) > limit) {
      tooLarge();
      return;
    }
    request.on('data', onData).on('end', onEnd).on('error', reject).on('close', onClose);
  });
}
