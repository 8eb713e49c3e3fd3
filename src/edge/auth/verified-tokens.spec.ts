import { describe, expect, it } from '@jest/globals';
import { VerifiedTokens } from './verified-tokens.js';

const principal = (id: string) => ({ id, grants: '*' as const });

describe('VerifiedTokens', () => {
  it('returns a token until it expires', () => {
    const tokens = new VerifiedTokens();
    tokens.add('a', { principal: principal('a'), validUntil: 100 });
    expect(tokens.get('a', 99)).toEqual(principal('a'));
    expect(tokens.get('a', 100)).toBeUndefined();
    expect(tokens.size).toBe(0);
  });

  it('evicts the least recently used token', () => {
    const tokens = new VerifiedTokens(2);
    for (const id of ['a', 'b']) tokens.add(id, { principal: principal(id), validUntil: 100 });
    tokens.get('a', 0);
    tokens.add('c', { principal: principal('c'), validUntil: 100 });
    expect(['a', 'b', 'c'].map((id) => tokens.get(id, 0)?.id)).toEqual(['a', undefined, 'c']);
  });
});
