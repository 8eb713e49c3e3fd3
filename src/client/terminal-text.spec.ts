import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { printable } from './printable.js';
import {
  padTextEnd,
  padTextStart,
  textWidth,
  truncateEnd,
  truncateMiddle,
  wrapText,
} from './terminal-text.js';

const texts = fc.string({ unit: 'grapheme', maxLength: 60 }).map(printable);
const widths = fc.integer({ min: 0, max: 40 });

describe('truncateEnd and truncateMiddle', () => {
  it.each([
    ['abcdef', 6, 'abcdef', 'abcdef'],
    ['abcdef', 4, 'abc…', 'ab…f'],
    ['abcdef', 1, '…', '…'],
    ['abcdef', 0, '', ''],
    ['世界世界', 5, '世界…', '世…界'],
    ['世界', 3, '世…', '世…'],
    ['世界', 2, '…', '…'],
  ])('shorten %j to %i columns as %j and %j', (text, width, end, middle) => {
    expect(truncateEnd(text, width)).toBe(end);
    expect(truncateMiddle(text, width)).toBe(middle);
  });

  it('never exceed the width, and padding fills it exactly', () => {
    fc.assert(
      fc.property(texts, widths, (text, width) => {
        for (const short of [truncateEnd(text, width), truncateMiddle(text, width)]) {
          expect(textWidth(short)).toBeLessThanOrEqual(width);
          expect(textWidth(padTextEnd(short, width))).toBe(width);
          expect(textWidth(padTextStart(short, width))).toBe(width);
        }
      }),
    );
  });
});

describe('wrapText', () => {
  it.each([
    ['one two three', 8, ['one two', 'three']],
    ['resource://a/b', 6, ['resour', 'ce://a', '/b']],
    ['', 5, ['']],
    ['  resource://a', 6, ['  reso', '  urce', '  ://a']],
    ['  a two', 5, ['  a', '  two']],
    ['a  b', 10, ['a  b']],
  ])('breaks %j at %i columns into %j', (text, width, lines) => {
    expect(wrapText(text, width)).toEqual(lines);
  });

  it('keeps all letters and never exceeds the width', () => {
    const ascii = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '-', '/'), maxLength: 80 });
    fc.assert(
      fc.property(ascii, fc.integer({ min: 1, max: 20 }), (text, width) => {
        const lines = wrapText(text, width);
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
      }),
    );
  });

  it('never exceeds the width with any printable text', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 20 }), (text, width) => {
        for (const line of wrapText(text, width)) expect(textWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('replaces a character that is wider than the line', () => {
    expect(wrapText('世界', 1)).toEqual(['…', '…']);
  });

  it('takes time linear in the length of a word', () => {
    expect(wrapText('x'.repeat(100_000), 50)).toHaveLength(2000);
  });
});
