import { describe, expect, it } from '@jest/globals';
import { bitCount, parseQuery, parseRankedQuery, type Query } from './query.js';

/** The terms, prefixes with a star, each with the bits that it covers. */
const shown = (text: string, { terms }: Query = parseQuery(text)): string =>
  terms.map(({ text: word, isPrefix, coverage }) => `${word}${isPrefix ? '*' : ''}:${coverage}`).join(' ');

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
    expect(parseQuery('old getUser').fullCoverage).toBe(0b111);
    expect(parseQuery('').fullCoverage).toBe(0);
  });

  it('uses at most twelve parts', () => {
    const letters = 'a b c d e f g h i j k l m n o p';
    expect(bitCount(parseQuery(letters).fullCoverage)).toBe(12);
    expect(parseQuery(letters).terms.at(-1)).toEqual({
      text: 'l',
      isPrefix: true,
      forms: [],
      coverage: 1 << 11,
    });
  });

  it('searches a name with more parts as a whole', () => {
    expect(shown(`now ${'aB'.repeat(20)}`)).toBe(`now:1 ${'ab'.repeat(20)}*:2`);
  });

  it('reads no more than 256 characters', () => {
    expect(parseQuery(`log${' '.repeat(253)}late`).terms).toHaveLength(1);
  });
});

describe('parseRankedQuery', () => {
  it.each([
    ['drops stop words', 'read a file from the disk', 'read*:1 file*:2 disk*:4'],
    ['keeps stop words where there are no others', 'the who', 'the*:1 who*:2'],
    ['searches short tokens as a whole', 'S3 v2', 's3:1 v2*:2'],
    ['makes terms of three letters prefixes', 'db log x', 'db:1 log*:2 x*:4'],
  ])('%s', (_rule, text, words) => {
    expect(shown(text, parseRankedQuery(text))).toBe(words);
  });

  it('adds the forms of each word', () => {
    expect(parseRankedQuery('buckets').terms[0]!.forms).toContain('bucket');
  });
});
