import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { chunksOf, wordsOf } from './words.js';

describe('the words of a text', () => {
  it.each([
    ['plain words', 'the quarterly report', 'the quarterly report'],
    ['any case', 'README Quarterly', 'readme quarterly'],
    ['camel case, in parts and whole', 'getUserProfile', 'get user profile getuserprofile'],
    ['capitals before a word', 'parseHTTPServer', 'parse http server parsehttpserver'],
    ['capitals after a word', 'macOS', 'mac os macos'],
    ['snake case and extensions', 'app_server.log', 'app server log'],
    ['letters and digits, in parts and whole', 'report2024', 'report 2024 report2024'],
    ['digits and letters', '2024report', '2024 report 2024report'],
    ['both borders at once', 'iOS17Beta', 'i os 17 beta ios17beta'],
    ['a version', 'v2', 'v 2 v2'],
    ['a hash, only whole', '3f2504e0c1', '3f2504e0c1'],
    ['a URI', 'file:///srv/logs/app-1.log', 'file srv logs app 1 log'],
    ['a MIME type', 'application/vnd.ms-excel', 'application vnd ms excel'],
    ['accents, composed or not', 'Résumé re\u0301sume\u0301', 'resume resume'],
    ['wide letters and ligatures', 'ｆｕｌｌ ﬁle', 'full file'],
    ['other alphabets', 'Привет МИР Ελλάδα', 'привет мир ελλαδα'],
    ['camel case in other alphabets', 'новыйОтчёт', 'новыи отчет новыиотчет'],
    ['scripts without spaces, sign by sign', '报告2024年', '报 告 2024 年'],
    ['letters beyond the basic plane', '𐐀𐐨 x', '𐐨𐐨 x'],
    ['marks that are no accents', 'हिन्दी', 'हिन्दी'],
    ['nothing in punctuation', ' -- !? {}\n', ''],
    ['nothing in half a character', '\ud800', ''],
  ])('take %s', (_what, text, words) => {
    expect(wordsOf(text).join(' ')).toBe(words);
  });

  it('are cut where they are longer than anybody types', () => {
    expect(wordsOf('a'.repeat(1000))).toEqual(['a'.repeat(64)]);
  });

  it('are the parts and the wholes of its chunks', () => {
    expect(chunksOf('getUser now')).toEqual([
      { whole: 'getuser', parts: ['get', 'user'] },
      { whole: 'now', parts: ['now'] },
    ]);
  });

  it('are words themselves: taken apart again, they stay whole or go into the same parts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        for (const word of wordsOf(text)) expect(chunksOf(word).map(({ whole }) => whole)).toEqual([word]);
      }),
    );
  });

  it('together have every letter and digit of the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        const letters = text.toLowerCase().replace(/[^a-z0-9]/g, '');
        expect(
          chunksOf(text)
            .map(({ whole }) => whole)
            .join(''),
        ).toBe(letters);
        for (const { whole, parts } of chunksOf(text)) expect(parts.join('')).toBe(whole);
      }),
    );
  });
});
