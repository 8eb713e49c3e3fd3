import { describe, expect, it } from '@jest/globals';
import { isJsonObject, tryParseJson } from './json-value.js';

describe('tryParseJson', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['null', null],
    ['', undefined],
    ['{"a":', undefined],
  ])('parses %j to %j', (text, value) => {
    expect(tryParseJson(text)).toEqual(value);
  });
});

describe('isJsonObject', () => {
  it.each([
    [{}, true],
    [[], false],
    [null, false],
    ['{}', false],
  ])('on %j is %j', (value, is) => {
    expect(isJsonObject(value)).toBe(is);
  });
});
