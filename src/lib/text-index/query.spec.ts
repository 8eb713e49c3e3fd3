import { describe, expect, it } from '@jest/globals';
import { bitsIn, parseQuery } from './query.js';

const lastOnly = (_word: string, isLast: boolean): boolean => isLast;

/** The words, those that are prefixes with a star, each with the parts that it covers. */
const shown = (text: string): string =>
  parseQuery(text, lastOnly)
    .words.map(({ text: word, isPrefix, covers }) => `${word}${isPrefix ? '*' : ''}:${covers}`)
    .join(' ');

describe('parseQuery', () => {
  it.each([
    ['gives every word a bit', 'app server', 'app:1 server*:2'],
    ['lets a whole cover its parts', 'getUser now', 'get:1 user:2 getuser:3 now*:4'],
    ['takes the end of a last whole for its last part too', 'old getUser', 'old:1 get:2 user*:4 getuser*:6'],
    ['takes equal words once, and the last one in any case', 'log Log app LOG', 'log:1 app:2 log*:4'],
    ['finds nothing in punctuation', '-- "?', ''],
  ])('%s', (_rule, text, words) => {
    expect(shown(text)).toBe(words);
  });

  it('knows all parts', () => {
    expect(parseQuery('old getUser', lastOnly).all).toBe(0b111);
    expect(parseQuery('', lastOnly).all).toBe(0);
  });

  it('takes no more than twelve parts, whatever is asked', () => {
    const letters = 'a b c d e f g h i j k l m n o p';
    expect(bitsIn(parseQuery(letters, lastOnly).all)).toBe(12);
    expect(parseQuery(letters, lastOnly).words.at(-1)).toEqual({
      text: 'l',
      isPrefix: true,
      covers: 1 << 11,
    });
  });

  it('seeks a name of more parts as a whole', () => {
    expect(shown(`now ${'aB'.repeat(20)}`)).toBe(`now:1 ${'ab'.repeat(20)}*:2`);
  });

  it('reads no more than 256 characters', () => {
    expect(parseQuery(`log${' '.repeat(253)}late`, lastOnly).words).toHaveLength(1);
  });
});
