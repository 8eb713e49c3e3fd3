import { describe, expect, it } from '@jest/globals';
import { JsonText } from '../lib/json-text/json-text.js';
import { runAtOnce } from '../lib/slices/run-sliced.js';
import { mimeTypeOf } from './mime-type.js';

describe('mimeTypeOf', () => {
  it.each([
    ['{"contents":[{"uri":"x:1","mimeType":"text/plain","text":"x"},{"mimeType":"b"}]}', 'text/plain'],
    ['{"contents":[{"mimeType":"text\\/html"}]}', 'text/html'],
    ['{"contents":[{"mimeType":"a","mimeType":"b"}]}', 'b'],
    ['{"mimeType":"x","contents":[{"uri":"x:1"},{"mimeType":"b"}]}', undefined],
  ])('returns the type of the first content: %s, %j', (text, expected) => {
    expect(runAtOnce(mimeTypeOf(new JsonText(text)))).toBe(expected);
  });

  it('returns undefined for a type that is too long to count', () => {
    const text = JSON.stringify({ contents: [{ mimeType: 'x'.repeat(300) }] });
    expect(runAtOnce(mimeTypeOf(new JsonText(text)))).toBeUndefined();
  });

  it.each([
    '{}',
    'null',
    '7',
    '"contents"',
    '[]',
    '{"contents":null}',
    '{"contents":{"mimeType":"a"}}',
    '{"contents":[]}',
    '{"contents":[null]}',
    '{"contents":["mimeType"]}',
    '{"contents":[[{"mimeType":"a"}]]}',
    '{"contents":[{"mimeType":7}]}',
    '{"contents":[{"mimeType":null}]}',
  ])('returns undefined for %s', (text) => {
    expect(runAtOnce(mimeTypeOf(new JsonText(text)))).toBeUndefined();
  });
});
