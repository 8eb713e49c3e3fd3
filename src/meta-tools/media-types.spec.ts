import { describe, expect, it } from '@jest/globals';
import { withoutParameters, mediaTypeFilter } from './media-types.js';

const matches = (wanted: string, mimeType: string | undefined): boolean =>
  mediaTypeFilter(wanted)(withoutParameters(mimeType));

describe('mediaTypeFilter', () => {
  it.each([
    ['text/plain', 'TEXT/Plain; charset=utf-8'],
    ['Text/plain;q=1', 'text/plain'],
    ['image/*', 'image/png'],
    ['*/*', 'x/y'],
  ])('%s matches %s', (wanted, mimeType) => {
    expect(matches(wanted, mimeType)).toBe(true);
  });

  it.each([
    ['text/plain', 'text/html'],
    ['text/plain', undefined],
    ['*/*', undefined],
    ['', undefined],
    ['image/*', 'imagery/png'],
  ])('%s does not match %s', (wanted, mimeType) => {
    expect(matches(wanted, mimeType)).toBe(false);
  });
});
