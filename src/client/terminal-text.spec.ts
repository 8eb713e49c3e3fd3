import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { printable } from './printable.js';
import { truncateEnd, truncateMiddle, fit, textWidth, wrapText } from './terminal-text.js';

const texts = fc.string({ unit: 'grapheme', maxLength: 60 }).map(printable);
const widths = fc.integer({ min: 0, max: 40 });

describe('cutting', () => {
  it.each([
    ['abcdef', 6, 'abcdef', 'abcdef'],
    ['abcdef', 4, 'abc…', 'ab…f'],
    ['abcdef', 1, '…', '…'],
    ['abcdef', 0, '', ''],
    ['世界世界', 5, '世界…', '世…界'],
    ['世界', 3, '世…', '世…'],
  ])('%j to %i columns gives %j, or %j from the middle', (text, width, end, middle) => {
    expect(truncateEnd(text, width)).toBe(end);
    expect(truncateMiddle(text, width)).toBe(middle);
  });

  it('never takes more columns than there are, and fitting takes exactly as many', () => {
    fc.assert(
      fc.property(texts, widths, (text, width) => {
        expect(textWidth(truncateEnd(text, width))).toBeLessThanOrEqual(width);
        expect(textWidth(truncateMiddle(text, width))).toBeLessThanOrEqual(width);
        expect(textWidth(fit(text, width))).toBe(width);
      }),
    );
  });
});

describe('wrap', () => {
  it.each([
    ['one two three', 8, ['one two', 'three']],
    ['resource://a/b', 6, ['resour', 'ce://a', '/b']],
    ['', 5, ['']],
    ['  resource://a', 6, ['  reso', 'urce:/', '/a']],
    ['  a two', 5, ['  a', 'two']],
    ['a  b', 10, ['a  b']],
  ])('breaks %j at %i columns into %j', (text, width, lines) => {
    expect(wrapText(text, width)).toEqual(lines);
  });

  it('loses no letter and keeps to the width', () => {
    const ascii = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '-', '/'), maxLength: 80 });
    fc.assert(
      fc.property(ascii, fc.integer({ min: 1, max: 20 }), (text, width) => {
        const lines = wrapText(text, width);
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
      }),
    );
  });

  it('does not hang on a character that is wider than the line', () => {
    expect(wrapText('世界', 1)).toEqual(['…']);
  });
});
