import { createHmac, randomBytes } from 'node:crypto';
import { CursorKey } from './cursor-key.js';

/** A random key per process: after a restart all cursors are invalid, and clients start again from the first page. */
export class RandomCursorKey extends CursorKey {
  private readonly secret = randomBytes(32);

  override derive(purpose: string): Buffer {
    return createHmac('sha256', this.secret).update(purpose).digest();
  }
}
