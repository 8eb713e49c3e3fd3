import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { GatewayError } from '../../core/errors.js';
import { invalidState, STATE_PREFIX } from '../../mcp/input-required.js';
import { CursorKey } from '../../state/cursor-key.js';

const SIGNATURE_BYTES = 16;
const PROCESS_BYTES = 6;

/** One response with questions of a parked call. */
export interface ParkedRound {
  readonly call: string;
  /** The number of this response: 1 for the first response of the call that has questions. */
  readonly round: number;
  /** When the client must have answered, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

/**
 * Signs and verifies the `requestState` of parked calls (revision 2026-07-28), which a client sends back with its
 * answers but cannot forge. The signature (HMAC) covers the call, the round, the expiry and the digest of the request.
 * The state names this process, because no other process has the call.
 */
@Injectable()
export class RequestStates {
  private readonly key: Buffer;
  private readonly prefix = `${STATE_PREFIX}${randomBytes(PROCESS_BYTES).toString('base64url')}.`;

  constructor(key: CursorKey) {
    this.key = key.derive('request-state');
  }

  /** Whether this process issued the state. If not, another process or a server of the 2026 era issued it. */
  isOwn(state: string): boolean {
    return state.startsWith(this.prefix);
  }

  /** Returns the state for a response with questions. `digest` is the `requestDigest` of the call. */
  seal({ call, round, expiresAt }: ParkedRound, digest: Buffer): string {
    const content = Buffer.from(JSON.stringify([call, round, expiresAt]));
    return this.prefix + Buffer.concat([this.signatureOf(content, digest), content]).toString('base64url');
  }

  /** Reads a state of this process. Throws if it was issued for a request with another digest, or has expired. */
  open(state: string, digest: Buffer): ParkedRound {
    const text = state.slice(this.prefix.length);
    const bytes = Buffer.from(text, 'base64url');
    const signature = bytes.subarray(0, SIGNATURE_BYTES);
    const content = bytes.subarray(SIGNATURE_BYTES);
    const isGenuine =
      signature.length === SIGNATURE_BYTES && timingSafeEqual(signature, this.signatureOf(content, digest));
    // Several base64url texts decode to the same bytes. Only the text that `seal` returned is accepted.
    if (!isGenuine || bytes.toString('base64url') !== text) throw foreignState();
    const [call, round, expiresAt] = JSON.parse(content.toString()) as [string, number, number];
    if (expiresAt <= Date.now()) throw expiredState();
    return { call, round, expiresAt };
  }

  private signatureOf(content: Buffer, digest: Buffer): Buffer {
    // The digest has a constant length, so that it is clear where the content begins.
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
