import { describe, expect, it } from '@jest/globals';
import { bitCount, parseQuery } from './query.js';

const lastOnly = (_term: string, isLast: boolean): boolean => isLast;

/** The terms, prefixes with a star, each with the bits that it covers. */
const shown = (text: string): string =>
  parseQuery(text, lastOnly)
    .terms.map(({ text: word, isPrefix, coverage }) => `${word}${isPrefix ? '*' : ''}:${coverage}`)
    .join(' ');

describe('parseQuery', () => {
  it.each([
    ['gives every term a bit', 'app server', 'app:1 server*:2'],
    ['gives a whole the bits of its parts', 'getUser now', 'get:1 user:2 getuser:3 now*:4'],
    ['makes the last part of the last whole a prefix too', 'old getUser', 'old:1 get:2 user*:4 getuser*:6'],
    ['drops repeated terms, but never the last one', 'log Log app LOG', 'log:1 app:2 log*:4'],
    ['finds no terms in punctuation', '-- "?', ''],
  ])('%s', (_rule, text, words) => {
    expect(shown(text)).toBe(words);
  });

  it('returns the bits of all parts as full coverage', () => {
    expect(parseQuery('old getUser', lastOnly).fullCoverage).toBe(0b111);
    expect(parseQuery('', lastOnly).fullCoverage).toBe(0);
  });

  it('uses at most twelve parts', () => {
    const letters = 'a b c d e f g h i j k l m n o p';
    expect(bitCount(parseQuery(letters, lastOnly).fullCoverage)).toBe(12);
    expect(parseQuery(letters, lastOnly).terms.at(-1)).toEqual({
      text: 'l',
      isPrefix: true,
      coverage: 1 << 11,
    });
  });

  it('searches a name with more parts as a whole', () => {
    expect(shown(`now ${'aB'.repeat(20)}`)).toBe(`now:1 ${'ab'.repeat(20)}*:2`);
  });

  it('reads no more than 256 characters', () => {
    expect(parseQuery(`log${' '.repeat(253)}late`, lastOnly).terms).toHaveLength(1);
  });
});
