import { describe, expect, it } from '@jest/globals';
import { bareType, typeFilter } from './mime-types.js';

const fits = (wanted: string, mimeType: string | undefined): boolean =>
  typeFilter(wanted)(bareType(mimeType));

describe('a type', () => {
  it.each([
    ['text/plain', 'TEXT/Plain; charset=utf-8'],
    ['Text/plain;q=1', 'text/plain'],
    ['image/*', 'image/png'],
    ['*/*', 'x/y'],
  ])('%s is wanted, and is what %s is', (wanted, mimeType) => {
    expect(fits(wanted, mimeType)).toBe(true);
  });

  it.each([
    ['text/plain', 'text/html'],
    ['text/plain', undefined],
    ['*/*', undefined],
    ['', undefined],
    ['image/*', 'imagery/png'],
  ])('%s is wanted, which %s is not', (wanted, mimeType) => {
    expect(fits(wanted, mimeType)).toBe(false);
  });
});
