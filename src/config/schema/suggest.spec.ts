import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { editDistance, suggest, unknownKey } from './suggest.js';

const KEYS = ['host', 'port', 'allowedHosts', 'allowedOrigins', 'pageSize'];

describe('suggest', () => {
  it.each([
    ['two letters swapped', 'prot', 'port'],
    ['a missing letter', 'pagSize', 'pageSize'],
    ['a surplus letter', 'hosts', 'host'],
    ['another case', 'PAGESIZE', 'pageSize'],
    ['several typing errors in a long word', 'allowdOrigin', 'allowedOrigins'],
  ])('finds the key for %s', (_typo, word, expected) => {
    expect(suggest(word, KEYS)).toBe(expected);
  });

  it.each(['token', 'x', ''])('suggests nothing for %j, which resembles no key', (word) => {
    expect(suggest(word, KEYS)).toBeUndefined();
  });

  it('is undefined for a word of more than 64 characters', () => {
    const word = 'x'.repeat(64);
    expect([suggest(word, [word]), suggest(`${word}x`, [word])]).toEqual([word, undefined]);
  });

  it('finds a key that differs in case only', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KEYS), fc.func(fc.boolean()), (key, isUpper) => {
        const written = key.replaceAll(/./g, (c, i) => (isUpper(i) ? c.toUpperCase() : c.toLowerCase()));
        expect(suggest(written, KEYS)).toBe(key);
      }),
    );
  });
});

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['port', '', 4],
    ['port', 'port', 0],
    ['port', 'prot', 1],
    ['port', 'sport', 1],
    ['kitten', 'sitting', 3],
  ])('of %j and %j is %i', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
  });

  it('is the same in both directions, and zero only for equal words', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const distance = editDistance(a, b);
        expect(editDistance(b, a)).toBe(distance);
        expect(distance === 0).toBe(a === b);
      }),
    );
  });

  it('lies between the difference of the lengths and the longer length', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const distance = editDistance(a, b);
        expect(distance).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
      }),
    );
  });
});

describe('unknownKey', () => {
  it('lists the known keys when none is similar', () => {
    expect(unknownKey('token', ['host', 'port'], ' in http')).toBe(
      'unknown key in http; known are host, port',
    );
  });
});
