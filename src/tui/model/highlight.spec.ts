import { describe, expect, it } from '@jest/globals';
import { highlightSubstrings, matchesQuery } from './highlight.js';

const marked = (text: string, query: string): string =>
  highlightSubstrings(text, query)
    .map(({ text: piece, isMatch }) => (isMatch ? `<${piece}>` : piece))
    .join('');

describe('highlight', () => {
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
  ])('marks in %j what was looked for with %j', (text, query, expected) => {
    expect(marked(text, query)).toBe(expected);
  });
});

describe('matches', () => {
  it.each([
    ['all words', ['read_file', 'Reads a FILE'], 'file read', true],
    ['not one of them', ['read_file'], 'file write', false],
    ['no words', ['x'], '  ', true],
  ])('of %s', (_what, texts, query, expected) => {
    expect(matchesQuery(texts, query)).toBe(expected);
  });
});
