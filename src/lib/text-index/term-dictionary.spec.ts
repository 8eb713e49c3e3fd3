import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { TermDictionary } from './term-dictionary.js';

const word = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 }),
  fc.string({ unit: fc.constantFrom('é', 'я', '报', '𐐨', 'a'), minLength: 1, maxLength: 4 }),
);

/** A dictionary and its terms by id. */
function vocabularyOf(words: readonly string[]): { vocabulary: TermDictionary; known: string[] } {
  const vocabulary = new TermDictionary();
  const known: string[] = [];
  for (const each of words) known[vocabulary.intern(each)] = each;
  return { vocabulary, known };
}

function startingWith(vocabulary: TermDictionary, prefix: string): number[] {
  const { from, to } = vocabulary.prefixRange(prefix);
  return Array.from({ length: to - from }, (_, index) => vocabulary.idAt(from + index));
}

const byCodePoints = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe('TermDictionary', () => {
  it('gives every term one id, in the order of adding', () => {
    const { vocabulary } = vocabularyOf(['b', 'a', 'b', 'c']);
    expect(['a', 'b', 'c', 'd'].map((each) => vocabulary.intern(each))).toEqual([1, 0, 2, 3]);
    expect(vocabulary.size).toBe(4);
  });

  it.each(['open', 'sealed'])('finds the same terms by prefix as a filter, %s', (state) => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), word, (words, prefix) => {
        const { vocabulary, known } = vocabularyOf(words);
        const numbers = state === 'sealed' ? [...vocabulary.seal()] : known.map((_, number) => number);
        const expected = [...new Set(words)].filter((each) => each.startsWith(prefix)).toSorted(byCodePoints);
        const found = startingWith(vocabulary, prefix);
        expect(found.map((number) => known[numbers[number]!])).toEqual(expected);
        expect(found.filter((number) => vocabulary.isTerm(number, prefix))).toEqual(
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
    const { vocabulary, known } = vocabularyOf(words);
    expect(startingWith(vocabulary, 'w').map((number) => known[number])).toEqual(words.toSorted());
  });

  it('interns terms of another dictionary', () => {
    const from = vocabularyOf(['log', 'été', '报']).vocabulary;
    const { vocabulary } = vocabularyOf(['log']);
    expect([0, 1, 2].map((number) => vocabulary.internFrom(from, number))).toEqual([0, 1, 2]);
    expect(vocabulary.isTerm(2, '报')).toBe(true);
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
  ])('compares a term with %s: %s', (_what, typed, isTypo) => {
    const { vocabulary } = vocabularyOf(['profile', 'zebra', 'p']);
    expect(vocabulary.fuzzyMatches(typed)).toEqual(isTypo ? [0] : []);
  });
});
