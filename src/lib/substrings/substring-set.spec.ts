import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { SubstringSet } from './substring-set.js';

/** Marks every code unit that belongs to an occurrence, one word after the other. */
function replaceOneByOne(words: readonly string[], text: string): string {
  const spans = words
    .filter((word) => word !== '')
    .flatMap((word) =>
      Array.from(text, (_, start) => start)
        .concat(text.length)
        .filter((start) => text.startsWith(word, start))
        .map((start) => ({ start, end: start + word.length })),
    )
    .toSorted((a, b) => a.start - b.start || b.end - a.end);
  let result = '';
  let copied = 0;
  for (let at = 0; at < spans.length;) {
    let { start, end } = spans[at]!;
    for (at++; at < spans.length && spans[at]!.start < end; at++) end = Math.max(end, spans[at]!.end);
    result += `${text.slice(copied, start)}*`;
    copied = end;
    start = end;
  }
  return result + text.slice(copied);
}

/** Few letters, so that words overlap and contain each other. */
const letters = fc
  .array(fc.constantFrom('a', 'b', 'c', 'é', '\u2028'), { maxLength: 30 })
  .map((all) => all.join(''));
const shortWords = fc.array(
  fc.array(fc.constantFrom('a', 'b', 'é'), { maxLength: 5 }).map((all) => all.join('')),
  {
    maxLength: 8,
  },
);

describe('SubstringSet', () => {
  it.each<[string, string[], string, string]>([
    ['a word', ['secret'], 'a secret, a secret', 'a *, a *'],
    ['the longer of two words with the same start', ['token', 'token-2'], 'token-2 token', '* *'],
    ['a word inside another word', ['bcd', 'abcde'], 'xabcdey bcd', 'x*y *'],
    ['words that overlap as one', ['abc', 'cde'], 'abcde', '*'],
    ['words that touch each', ['abc', 'def'], 'abcdef', '**'],
    ['a word after its own beginning', ['aab'], 'aaab', 'a*'],
    ['nothing without words', [], 'text', 'text'],
    ['nothing for an empty word', [''], 'text', 'text'],
  ])('replaces %s', (_what, words, text, expected) => {
    expect(new SubstringSet(words).replaceIn(text, '*')).toBe(expected);
  });

  it('replaces what a search for one word after the other finds', () => {
    fc.assert(
      fc.property(shortWords, letters, (words, text) => {
        expect(new SubstringSet(words).replaceIn(text, '*')).toBe(replaceOneByOne(words, text));
      }),
      { numRuns: 500 },
    );
  });

  it('inserts a replacement with special characters as it is', () => {
    expect(new SubstringSet(['x']).replaceIn('axb', '$&')).toBe('a$&b');
  });
});
