import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { EVERYTHING, NOTHING, scopeOf } from './scope.js';

const servers = fc.uniqueArray(fc.oneof(fc.constantFrom('a', 'b', 'a,b', '*', '', '__proto__'), fc.string()));

describe('Scope', () => {
  it('allows exactly the servers that it was created with', () => {
    fc.assert(
      fc.property(servers, fc.string(), (given, other) => {
        const scope = scopeOf(given);
        expect(given.filter((server) => !scope.allows(server))).toEqual([]);
        expect(scope.allows(other)).toBe(given.includes(other));
      }),
    );
  });

  it('has the same key as another scope exactly when both allow the same servers', () => {
    fc.assert(
      fc.property(servers, servers, (one, other) => {
        const isSame = one.length === other.length && one.every((server) => other.includes(server));
        expect(scopeOf(one).key === scopeOf(other).key).toBe(isSame);
        expect(scopeOf([...one, ...one].toReversed()).key).toBe(scopeOf(one).key);
      }),
    );
  });

  it('never has the key of EVERYTHING or NOTHING', () => {
    fc.assert(
      fc.property(servers, (given) => {
        expect([EVERYTHING.key, NOTHING.key]).not.toContain(scopeOf(given).key);
      }),
    );
  });

  it('allows every server as EVERYTHING and none as NOTHING', () => {
    expect([EVERYTHING.allows('a'), NOTHING.allows('a')]).toEqual([true, false]);
  });
});
