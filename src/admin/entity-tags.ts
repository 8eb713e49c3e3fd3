import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AdminTokens } from './admin-tokens.js';

/**
 * Entity tags of definitions; a restart does not change them. The hash is keyed because definitions contain secrets, which a
 * viewer could otherwise find by guessing.
 */
@Injectable()
export class EntityTags {
  private readonly key: string;

  constructor(tokens: AdminTokens) {
    this.key = `etag\0${tokens.secrets[0]}`;
  }

  of(value: unknown): string {
    const mac = createHmac('sha256', this.key).update(JSON.stringify(value));
    return `"${mac.digest('base64url').slice(0, 22)}"`;
  }
}
