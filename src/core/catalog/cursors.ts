import { createHmac, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../errors.js';

const SIGNATURE_BYTES = 16;
/** Enough for a cursor with the longest position: a URI of 8,192 bytes, or an identifier with a digest. */
const MAX_CURSOR_CHARACTERS = 11_200;

/**
 * Signs and verifies list cursors, which a client can store but not forge. A cursor contains the position of a page:
 * the key of the item before it, so that the cursor stays valid when the list changes. The signature (HMAC) covers the
 * list and the scope: a cursor for another list or scope is refused.
 */
export class Cursors {
  constructor(private readonly key: Buffer) {}

  /** Returns the cursor for a position. `list` identifies the list and the scope. */
  sign(list: string, position: string): string {
    const bytes = Buffer.from(position);
    return Buffer.concat([this.signatureOf(list, bytes), bytes]).toString('base64url');
  }

  /** Returns the position in the cursor. Throws unless the cursor was signed for this list. */
  verify(list: string, cursor: unknown): string {
    if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR_CHARACTERS) throw invalidCursor();
    const bytes = Buffer.from(cursor, 'base64url');
    const signature = bytes.subarray(0, SIGNATURE_BYTES);
    const position = bytes.subarray(SIGNATURE_BYTES);
    const isGenuine =
      signature.length === SIGNATURE_BYTES && timingSafeEqual(signature, this.signatureOf(list, position));
    // Several base64url texts decode to the same bytes. Only the text that `sign` returned is accepted.
    if (!isGenuine || bytes.toString('base64url') !== cursor) throw invalidCursor();
    return position.toString();
  }

  private signatureOf(list: string, position: Buffer): Buffer {
    // Signs the length too: it says where the list ends and the position begins.
    const mac = createHmac('sha256', this.key).update(`${list.length}\0${list}`).update(position);
    return mac.digest().subarray(0, SIGNATURE_BYTES);
  }
}

const invalidCursor = (): GatewayError =>
  new GatewayError('invalid-params', 'Invalid cursor: start again from the first page');
