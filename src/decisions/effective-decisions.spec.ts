import { describe, expect, it } from '@jest/globals';
import { decideKey, NO_DECISIONS } from '../state/decisions.js';
import { isRevokedKey } from './effective-decisions.js';

const HASH = `sha256:${'a'.repeat(64)}`;
const NEW_HASH = `sha256:${'b'.repeat(64)}`;

describe('isRevokedKey', () => {
  it.each([
    ['of the revoked key', 'ci', HASH, true],
    ['of the revoked key in upper case', 'ci', HASH.toUpperCase(), true],
    ['of a new key under the id of the revoked key', 'ci', NEW_HASH, false],
    ['of the revoked key under another id', 'cd', HASH, false],
  ])('with the hash %s', (_whose, id, hash, isRevoked) => {
    const decisions = decideKey(NO_DECISIONS, 'ci', { revoked: [HASH] });
    expect(isRevokedKey({ id, hash, projects: ['p'] }, decisions)).toBe(isRevoked);
  });
});
