import { describe, expect, it } from '@jest/globals';
import { MimeTypes, typeFilter } from './mime-types.js';

const fits = (wanted: string, mimeType: string | undefined): boolean =>
  typeFilter(wanted)(new MimeTypes().of(mimeType));

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

  it('is told also where servers make up very many', () => {
    const types = new MimeTypes();
    const filter = typeFilter('made/up1999');
    const made = Array.from({ length: 2000 }, (_, n) => types.of(`made/up${n}`));
    expect(made.filter(filter)).toEqual(['made/up1999']);
  });
});
