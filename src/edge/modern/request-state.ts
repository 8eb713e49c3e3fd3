import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { GatewayError } from '../../core/errors.js';
import { invalidState, STATE_PREFIX } from '../../mcp/input-required.js';
import { CursorKey } from '../../state/cursor-key.js';

const SIGNATURE_BYTES = 16;
const PROCESS_BYTES = 6;

/** One result with questions of a parked call, and until when its client may answer. */
export interface ParkedRound {
  readonly call: string;
  /** The number of this result: 1 for the first one of the call. */
  readonly round: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * `requestState` of calls that this process holds (revision 2026-07-28): a client can store it but not forge it. The
 * signature (HMAC) covers call, round and expiry, and a digest of the request: principal, method and params. The state names
 * the process, because no other process has the call.
 */
@Injectable()
export class RequestStates {
  private readonly key: Buffer;
  private readonly prefix = `${STATE_PREFIX}${randomBytes(PROCESS_BYTES).toString('base64url')}.`;

  constructor(key: CursorKey) {
    this.key = key.derive('request-state');
  }

  /** Whether the state names this process. Another state may have been issued by another process, or by a server of 2026. */
  isOwn(state: string): boolean {
    return state.startsWith(this.prefix);
  }

  seal({ call, round, expiresAt }: ParkedRound, digest: Buffer): string {
    const content = Buffer.from(JSON.stringify([call, round, expiresAt]));
    return this.prefix + Buffer.concat([this.signatureOf(content, digest), content]).toString('base64url');
  }

  /** What an own state says. Throws unless it was issued for the request with this digest and has not expired. */
  open(state: string, digest: Buffer): ParkedRound {
    const text = state.slice(this.prefix.length);
    const bytes = Buffer.from(text, 'base64url');
    const signature = bytes.subarray(0, SIGNATURE_BYTES);
    const content = bytes.subarray(SIGNATURE_BYTES);
    const isGenuine =
      signature.length === SIGNATURE_BYTES && timingSafeEqual(signature, this.signatureOf(content, digest));
    // base64url has several encodings of the same bytes; only the issued one is accepted.
    if (!isGenuine || bytes.toString('base64url') !== text) throw foreignState();
    const [call, round, expiresAt] = JSON.parse(content.toString()) as [string, number, number];
    if (expiresAt <= Date.now()) throw expiredState();
    return { call, round, expiresAt };
  }

  private signatureOf(content: Buffer, digest: Buffer): Buffer {
    // The digest has a constant length, so that digest and content cannot be divided in another way.
    return createHmac('sha256', this.key)
      .update(digest)
      .update(content)
      .digest()
      .subarray(0, SIGNATURE_BYTES);
  }
}

export const expiredState = (): GatewayError =>
  invalidState('its questions were not answered in time, or the call has ended');

export const usedState = (): GatewayError => invalidState('its questions are answered already');

const foreignState = (): GatewayError =>
  invalidState('it was changed, or issued for another request or principal');
