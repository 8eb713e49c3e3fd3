import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { printable, printableJson, printableLines } from './printable.js';

/** Whatever a terminal could take for more than a letter. */
// oxlint-disable-next-line no-control-regex -- these are what it is about
const OBEYED = /[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

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

  it('leaves no more marks on a letter than any language does', () => {
    expect(printable(`a${'\u0301'.repeat(500)}b`)).toBe(`a${'\u0301'.repeat(4)}b`);
  });

  it('lets nothing through that a terminal would obey, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(text)).not.toMatch(OBEYED);
        for (const line of printableLines(text)) expect(line).not.toMatch(OBEYED);
      }),
    );
  });
});

describe('printableJson', () => {
  it('means the same and holds nothing that a terminal would obey', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = printableJson({ text });
        expect(JSON.parse(json)).toEqual({ text });
        expect(json.replaceAll('\n', '')).not.toMatch(OBEYED);
      }),
    );
  });
});
