import { createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AdminTokens } from './admin-tokens.js';

/** Number of base64url characters in a tag. They contain 132 bits of the hash. */
const TAG_LENGTH = 22;

/**
 * Computes the entity tags of servers and projects. A restart does not change them. The hash is keyed: definitions contain
 * secrets, and a viewer could guess a secret and verify the guess with an unkeyed hash.
 */
@Injectable()
export class EntityTags {
  private readonly key: string;

  constructor({ adminToken }: AdminTokens) {
    this.key = `etag\0${adminToken}`;
  }

  of(value: unknown): string {
    const mac = createHmac('sha256', this.key).update(JSON.stringify(value));
    return `"${mac.digest('base64url').slice(0, TAG_LENGTH)}"`;
  }
}
