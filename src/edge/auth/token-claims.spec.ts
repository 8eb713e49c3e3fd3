import { describe, expect, it } from '@jest/globals';
import { authSettings } from '../../../test/kit/auth.js';
import { grantsIn, hasScopes } from './token-claims.js';

const settings = (jwt = {}) =>
  authSettings({ jwt: { issuer: 'https://id.example.com', audience: 'https://mcp.example.com', ...jwt } })
    .jwt!;

describe('grantsIn', () => {
  it.each([
    ['a list', ['a', 'b'], ['a', 'b']],
    ['text with spaces between', 'a  b ', ['a', 'b']],
    ['nothing', undefined, []],
    ['an empty list', [], []],
    ['a number', 5, []],
    ['a mapping', { a: true }, []],
    ['a list with other types', ['a', 5, null, ['b'], ''], ['a']],
    ['"*" in a list, which only the configuration can grant', ['*', 'a'], ['a']],
    ['"*" as text', '*', []],
  ])('reads %s', (_what, projects, expected) => {
    expect(grantsIn({ projects }, settings())).toEqual(new Set(expected));
  });

  it('accepts "*" if the configuration allows it', () => {
    expect(grantsIn({ projects: ['*'] }, settings({ allowAllProjects: true }))).toBe('*');
    expect(grantsIn({ projects: ['a'] }, settings({ allowAllProjects: true }))).toEqual(new Set(['a']));
  });

  it('adds the projects granted to every token', () => {
    expect(grantsIn({ projects: 'a' }, settings({ projects: ['b'] }))).toEqual(new Set(['a', 'b']));
    expect(grantsIn({}, settings({ projects: ['*'] }))).toBe('*');
  });

  it('reads the configured claim', () => {
    const claim = 'https://example.com/projects';
    expect(grantsIn({ [claim]: ['a'], projects: ['b'] }, settings({ projectsClaim: claim }))).toEqual(
      new Set(['a']),
    );
  });

  it.each(['constructor', '__proto__', 'toString'])('grants nothing for the claim %s', (projectsClaim) => {
    expect(grantsIn({}, settings({ projectsClaim }))).toEqual(new Set());
  });
});

describe('hasScopes', () => {
  it.each([
    [{ scope: 'a b' }, ['a', 'b'], true],
    [{ scp: ['a', 'b'] }, ['b'], true],
    [{ scp: 'a' }, ['a'], true],
    [{}, [], true],
    [{ scope: 'ab' }, ['a'], false],
    [{ scope: 'a' }, ['a', 'b'], false],
    [{ scope: 'A' }, ['a'], false],
    [{}, ['a'], false],
  ])('%j has %j: %s', (claims, scopes, expected) => {
    expect(hasScopes(claims, scopes)).toBe(expected);
  });
});
