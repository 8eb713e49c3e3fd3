import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { tokenize, termsOf } from './tokenizer.js';

describe('termsOf', () => {
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
    ['scripts without spaces, character by character', '报告2024年', '报 告 2024 年'],
    ['letters beyond the basic plane', '𐐀𐐨 x', '𐐨𐐨 x'],
    ['combining marks other than accents', 'हिन्दी', 'हिन्दी'],
    ['punctuation, which has none', ' -- !? {}\n', ''],
    ['an unpaired surrogate, which has none', '\ud800', ''],
  ])('returns the terms of %s', (_what, text, words) => {
    expect(termsOf(text).join(' ')).toBe(words);
  });

  it('truncates long terms', () => {
    expect(termsOf('a'.repeat(1000))).toEqual(['a'.repeat(64)]);
  });

  it('returns the parts and the wholes of the tokens', () => {
    expect(tokenize('getUser now')).toEqual([
      { whole: 'getuser', parts: ['get', 'user'] },
      { whole: 'now', parts: ['now'] },
    ]);
  });

  it('returns terms that are single tokens themselves', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        for (const word of termsOf(text)) expect(tokenize(word).map(({ whole }) => whole)).toEqual([word]);
      }),
    );
  });

  it('keeps every letter and digit of the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        const letters = text.toLowerCase().replace(/[^a-z0-9]/g, '');
        expect(
          tokenize(text)
            .map(({ whole }) => whole)
            .join(''),
        ).toBe(letters);
        for (const { whole, parts } of tokenize(text)) expect(parts.join('')).toBe(whole);
      }),
    );
  });
});
