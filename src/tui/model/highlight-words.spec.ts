import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { termsOf } from '../../lib/text-index/tokenizer.js';
import { highlightWords } from './highlight-words.js';

const marked = (text: string, query: string): string =>
  highlightWords(text, query)
    .map(({ text: piece, isMatch }) => (isMatch ? `<${piece}>` : piece))
    .join('');

describe('highlightWords', () => {
  it.each([
    ['nothing without words', 'app.log', ' .', 'app.log'],
    ['whole words and a prefix for the last word', 'app.log logs', 'log', 'app.<log> <log>s'],
    ['no suffix of a word', 'catalog blog', 'log', 'catalog blog'],
    ['only whole words before the last', 'logs log app', 'log ap', 'logs <log> <ap>p'],
    ['in any case', 'README', 'readm', '<READM>E'],
    ['letters with accents for letters without', 'Résumé', 'resume', '<Résumé>'],
    ['letters without accents for letters with', 'resume', 'résu', '<resu>me'],
    ['combining accents', 're\u0301sume\u0301', 'res', '<re\u0301s>ume\u0301'],
    ['ligatures by their letters', 'ﬁle', 'fi', '<ﬁ>le'],
    ['a part of a compound', 'getUserProfile', 'user', 'get<User>Profile'],
    ['a compound as a whole', 'getUserProfile', 'getuserp', '<getUserP>rofile'],
    ['a word after capitals', 'HTTPServer', 'serv', 'HTTP<Serv>er'],
    ['a word after capitals outside the basic plane', '𐒰𖹀ⰰ', '𖹠ⰰ', '𐒰<𖹀ⰰ>'],
    ['a number after letters', 'report2024', '2024', 'report<2024>'],
    ['the words of a path', 'file:///logs/app-1.log', 'logs/app', 'file:///<logs>/<app>-1.log'],
    ['signs one by one', '报告2024', '告', '报<告>2024'],
  ])('finds %s', (_what, text, query, expected) => {
    expect(marked(text, query)).toBe(expected);
  });

  it('finds a match in every text that the gateway finds by one of its words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.nat(), (text, choice) => {
        const words = termsOf(text);
        const word = words[choice % words.length];
        if (word === undefined) return;
        const pieces = highlightWords(text, word);
        expect(pieces.map((piece) => piece.text).join('')).toBe(text);
        expect(pieces.some(({ isMatch }) => isMatch)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
