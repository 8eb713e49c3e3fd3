import { describe, expect, it } from '@jest/globals';
import { MimeTypeLabels } from './mime-type-labels.js';

describe('MimeTypeLabels', () => {
  it.each([
    ['text/plain', 'text/plain'],
    ['Text/HTML; charset=utf-8', 'text/html'],
    ['image/svg+xml', 'image/svg+xml'],
    ['application/vnd.a-b.c+json;profile="x"', 'application/vnd.a-b.c+json'],
    ['text', '_other'],
    ['', '_other'],
    ['text/plain"} 1\nfake 2', '_other'],
    [`a/${'b'.repeat(100)}`, '_other'],
    [undefined, '_none'],
  ])('normalises %j to %s', (mimeType, label) => {
    expect(new MimeTypeLabels().of(mimeType)).toBe(label);
  });

  it('limits the number of distinct labels', () => {
    const labels = new MimeTypeLabels(2);
    expect(['a/a', 'b/b', 'c/c', 'a/a'].map((type) => labels.of(type))).toEqual([
      'a/a',
      'b/b',
      '_other',
      'a/a',
    ]);
  });
});
