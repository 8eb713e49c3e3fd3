import { createHmac, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../errors.js';

const SEAL_BYTES = 16;
/** Enough for the longest URI (8,192 bytes) or an identifier with a digest, sealed and encoded. */
const MAX_CURSOR_CHARACTERS = 11_200;

/**
 * Cursors that a client can store but not forge. A cursor contains a position by key, so it stays valid when the list
 * changes, and is sealed for one list in one scope, so it is refused elsewhere.
 */
export class Cursors {
  constructor(private readonly key: Buffer) {}

  seal(list: string, position: string): string {
    const bytes = Buffer.from(position);
    return Buffer.concat([this.sealOf(list, bytes), bytes]).toString('base64url');
  }

  open(list: string, cursor: unknown): string {
    if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR_CHARACTERS) throw invalidCursor();
    const bytes = Buffer.from(cursor, 'base64url');
    const seal = bytes.subarray(0, SEAL_BYTES);
    const position = bytes.subarray(SEAL_BYTES);
    const genuine = seal.length === SEAL_BYTES && timingSafeEqual(seal, this.sealOf(list, position));
    // base64url has several encodings of the same bytes; only the issued one is accepted.
    if (!genuine || bytes.toString('base64url') !== cursor) throw invalidCursor();
    return position.toString();
  }

  private sealOf(list: string, position: Buffer): Buffer {
    // The length separates list and position, so that no two pairs have the same seal.
    const mac = createHmac('sha256', this.key).update(`${list.length}\0${list}`).update(position);
    return mac.digest().subarray(0, SEAL_BYTES);
  }
}

const invalidCursor = (): GatewayError =>
  new GatewayError('invalid-params', 'Invalid cursor: start again from the first page');
