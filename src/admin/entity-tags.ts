import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AdminToken } from './admin-token.js';

/**
 * Names versions of what was decided, the same after a restart. Keyed, because what they are made of holds secrets, and
 * who may look must not be able to try out guesses.
 */
@Injectable()
export class EntityTags {
  private readonly key: string;

  constructor(tokens: AdminToken) {
    this.key = `etag\0${tokens.secrets[0]}`;
  }

  of(value: unknown): string {
    const mac = createHmac('sha256', this.key).update(JSON.stringify(value));
    return `"${mac.digest('base64url').slice(0, 22)}"`;
  }
}
