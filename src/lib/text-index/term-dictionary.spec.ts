import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { TermDictionary } from './term-dictionary.js';

const word = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 }),
  fc.string({ unit: fc.constantFrom('é', 'я', '报', '𐐨', 'a'), minLength: 1, maxLength: 4 }),
);

/** A dictionary and its terms by id. */
function dictionaryOf(words: readonly string[]): { dictionary: TermDictionary; termsById: string[] } {
  const dictionary = new TermDictionary();
  const termsById: string[] = [];
  for (const each of words) termsById[dictionary.intern(each)] = each;
  return { dictionary, termsById };
}

function startingWith(dictionary: TermDictionary, prefix: string): number[] {
  const { from, to } = dictionary.prefixRange(prefix);
  return Array.from({ length: to - from }, (_, index) => dictionary.idAt(from + index));
}

const byCodePoints = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe('TermDictionary', () => {
  it('gives every term one id, in the order of adding', () => {
    const { dictionary } = dictionaryOf(['b', 'a', 'b', 'c']);
    expect(['a', 'b', 'c', 'd'].map((each) => dictionary.intern(each))).toEqual([1, 0, 2, 3]);
    expect(dictionary.size).toBe(4);
  });

  it.each(['open', 'sealed'])('finds the same terms by prefix as a filter, %s', (state) => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), word, (words, prefix) => {
        const { dictionary, termsById } = dictionaryOf(words);
        const oldIds = state === 'sealed' ? [...dictionary.seal()] : termsById.map((_, id) => id);
        const expected = [...new Set(words)].filter((each) => each.startsWith(prefix)).toSorted(byCodePoints);
        const found = startingWith(dictionary, prefix);
        expect(found.map((id) => termsById[oldIds[id]!])).toEqual(expected);
        expect(found.filter((id) => dictionary.isTerm(id, prefix))).toEqual(
          expected[0] === prefix ? [found[0]] : [],
        );
      }),
    );
  });

  it.each([
    ['in order', (i: number) => i],
    ['in reverse', (i: number) => 9_999 - i],
    ['in no order', (i: number) => 1_000 + ((i * 7919) % 5_003)],
  ])('sorts thousands of terms that are added %s', (_how, nth) => {
    const words = Array.from({ length: 5_000 }, (_, i) => `w${nth(i)}`);
    const { dictionary, termsById } = dictionaryOf(words);
    expect(startingWith(dictionary, 'w').map((id) => termsById[id])).toEqual(words.toSorted());
  });

  it('interns terms of another dictionary', () => {
    const from = dictionaryOf(['log', 'été', '报']).dictionary;
    const { dictionary } = dictionaryOf(['log']);
    expect([0, 1, 2].map((id) => dictionary.internFrom(from, id))).toEqual([0, 1, 2]);
    expect(dictionary.isTerm(2, '报')).toBe(true);
  });

  it.each([
    ['a letter too many', 'proffile', true],
    ['a letter too few', 'profle', true],
    ['the last letter missing', 'profil', true],
    ['another letter', 'profule', true],
    ['two letters swapped', 'porfile', true],
    ['the last two letters swapped', 'profiel', true],
    ['the word itself', 'profile', true],
    ['another first letter', 'crofile', false],
    ['two letters too many', 'proffille', false],
    ['two other letters', 'pxofxle', false],
    ['two swapped that stand apart', 'plofire', false],
  ])('finds a term by fuzzy matching with %s (%s): %s', (_what, typed, isMatch) => {
    const { dictionary } = dictionaryOf(['profile', 'zebra', 'p']);
    expect(dictionary.fuzzyMatches(typed)).toEqual(isMatch ? [0] : []);
  });
});
