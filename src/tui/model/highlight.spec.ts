import { describe, expect, it } from '@jest/globals';
import { highlightSubstrings, matchesQuery } from './highlight.js';

const marked = (text: string, query: string): string =>
  highlightSubstrings(text, query)
    .map(({ text: piece, isMatch }) => (isMatch ? `<${piece}>` : piece))
    .join('');

describe('highlightSubstrings', () => {
  it.each([
    ['app.log', '', 'app.log'],
    ['app.log', 'LOG', 'app.<log>'],
    ['log/app.log', 'log', '<log>/app.<log>'],
    ['app.log', 'log app', '<app>.<log>'],
    ['a.b', '.', 'a<.>b'],
    ['(x)[y]', ')[', '(x<)[>y]'],
    ['logs log', 'log logs', '<logs> <log>'],
    ['Straße', 'SS', 'Straße'],
    ['', 'x', ''],
  ])('finds in %j the words of %j', (text, query, expected) => {
    expect(marked(text, query)).toBe(expected);
  });
});

describe('matchesQuery', () => {
  it.each([
    ['all words', ['read_file', 'Reads a FILE'], 'file read', true],
    ['not all words', ['read_file'], 'file write', false],
    ['no words', ['x'], '  ', true],
  ])('compares %s', (_what, texts, query, expected) => {
    expect(matchesQuery(texts, query)).toBe(expected);
  });
});
