import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { EVERYTHING, NOTHING, scopeOf } from './scope.js';

const servers = fc.uniqueArray(fc.oneof(fc.constantFrom('a', 'b', 'a,b', '*', '', '__proto__'), fc.string()));

describe('a scope', () => {
  it('allows the servers it was made of and no others', () => {
    fc.assert(
      fc.property(servers, fc.string(), (given, other) => {
        const scope = scopeOf(given);
        expect(given.filter((server) => !scope.allows(server))).toEqual([]);
        expect(scope.allows(other)).toBe(given.includes(other));
      }),
    );
  });

  it('has the same key as another exactly when both allow the same, in whatever order and however often', () => {
    fc.assert(
      fc.property(servers, servers, (one, other) => {
        const isSame = one.length === other.length && one.every((server) => other.includes(server));
        expect(scopeOf(one).key === scopeOf(other).key).toBe(isSame);
        expect(scopeOf([...one, ...one].toReversed()).key).toBe(scopeOf(one).key);
      }),
    );
  });

  it('is never taken for everything, nor for what is not decided yet', () => {
    fc.assert(
      fc.property(servers, (given) => {
        expect([EVERYTHING.key, NOTHING.key]).not.toContain(scopeOf(given).key);
      }),
    );
  });

  it('of everything allows every server, and of nothing none', () => {
    expect([EVERYTHING.allows('a'), NOTHING.allows('a')]).toEqual([true, false]);
  });
});
