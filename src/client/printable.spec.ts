import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { printable, printableJson, printableLines } from './printable.js';

/** Characters that a terminal interprets or does not show. */
// oxlint-disable-next-line no-control-regex -- the test is about control characters
const INTERPRETED = /[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

describe('printable', () => {
  it.each([
    ['plain text', 'plain text'],
    ['\x1b[31mred\x1b[0m', '\\x1b[31mred\\x1b[0m'],
    ['\x1b]0;title\x07', '\\x1b]0;title\\x07'],
    ['\x9b2J', '\\x9b2J'],
    ['a\nb\r\tc', 'a\\nb\\r\\tc'],
    ['\u202egnp.exe', '\\u202egnp.exe'],
    ['zero\u200bwidth', 'zero\\u200bwidth'],
    ['tag\u{e0041}', 'tag\\u{e0041}'],
    ['half \ud800', 'half \\ud800'],
    ['Grüße, 世界 🚀', 'Grüße, 世界 🚀'],
  ])('shows %j as %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('limits combining marks per letter to four', () => {
    expect(printable(`a${'\u0301'.repeat(500)}b`)).toBe(`a${'\u0301'.repeat(4)}b`);
  });

  it('leaves no character that a terminal interprets, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(INTERPRETED);
        for (const line of printableLines(text)) expect(line).not.toMatch(INTERPRETED);
      }),
    );
  });
});

describe('printableJson', () => {
  it('parses to the same value and contains no character that a terminal interprets', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = printableJson({ text });
        expect(JSON.parse(json)).toEqual({ text });
        expect(json.replaceAll('\n', '')).not.toMatch(INTERPRETED);
      }),
    );
  });
});
