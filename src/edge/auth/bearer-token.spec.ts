import { describe, expect, it } from '@jest/globals';
import { MAX_TOKEN_LENGTH, readBearerToken } from './bearer-token.js';

describe('readBearerToken', () => {
  it.each(['Bearer abc', 'bearer abc', 'BEARER   abc', 'Bearer abc  '])('reads %j', (header) => {
    expect(readBearerToken(header)).toEqual({ kind: 'token', token: 'abc' });
  });

  it.each([undefined, '', 'Bearer', 'Bearer ', 'Basic YTpi', 'abc', 'Bearerabc', 'Token abc', 'Bearer\tabc'])(
    'finds no token in %j',
    (header) => {
      expect(readBearerToken(header)).toEqual({ kind: 'none' });
    },
  );

  it.each(['Bearer a b', 'Bearer a, Bearer b', 'Bearer \u00fc', 'Bearer a\u0000b'])(
    'finds %j malformed',
    (header) => {
      expect(readBearerToken(header)).toEqual({ kind: 'malformed' });
    },
  );

  it('accepts a token up to the maximum length', () => {
    expect(readBearerToken(`Bearer ${'a'.repeat(MAX_TOKEN_LENGTH)}`).kind).toBe('token');
    expect(readBearerToken(`Bearer ${'a'.repeat(MAX_TOKEN_LENGTH + 1)}`).kind).toBe('too-long');
  });
});
