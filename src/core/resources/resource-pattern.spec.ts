import { describe, expect, it } from '@jest/globals';
import { isSameOrPart, patternOf } from './resource-pattern.js';

describe('patternOf', () => {
  it.each(['file:///logs/app.log', 'file:///a*b', 'file:///*/b', '', 'file:///broken/{name'])(
    'takes %j for a single resource',
    (uri) => {
      expect(patternOf(uri)).toBeUndefined();
    },
  );

  it.each([
    ['file:///logs/*', 'file:///logs/', 'file:///logs/app.log', true],
    ['file:///logs/*', 'file:///logs/', 'file:///logs/old/app.log', true],
    ['file:///logs/*', 'file:///logs/', 'file:///logs/', true],
    ['file:///logs/*', 'file:///logs/', 'file:///logs', false],
    ['file:///logs/app*', 'file:///logs/app', 'file:///logs/app.log', true],
    ['*', '', 'anything://at/all', true],
    ['*', '', '', true],
    ['file:///**', 'file:///*', 'file:///a', false],
    ['db://{table}/{id}', 'db://', 'db://users/5', true],
    ['db://{table}/{id}', 'db://', 'db://users', false],
    ['db://{table}/{id}', 'db://', 'file://users/5', false],
    ['db://users/{id}', 'db://users/', 'db://users/5', true],
    ['db://users/{id}', 'db://users/', 'db://users/5/name', false],
  ])('%s with prefix %j matches %s: %s', (pattern, prefix, uri, matches) => {
    expect(patternOf(pattern)?.prefix).toBe(prefix);
    expect(patternOf(pattern)?.matches(uri)).toBe(matches);
  });
});

describe('isSameOrPart', () => {
  it.each([
    ['file:///a/b', 'file:///a/b', true],
    ['file:///a/b', 'file:///a/b/c', true],
    ['file:///a/b', 'file:///a/b/', true],
    ['file:///a/b', 'file:///a/bc', false],
    ['file:///a/b', 'file:///a/b.c', false],
    ['file:///a/b', 'file:///a/b?c', true],
    ['file:///a/b', 'file:///a/b#c', true],
    ['file:///a/b/', 'file:///a/b/c', true],
    ['file:///', 'file:///a', true],
    ['db://t?x=1', 'db://t?x=1&y=2', false],
    ['db://t?x=1', 'db://t?x=1#top', true],
  ])('for a subscription to %s and an update of %s is %s', (uri, updated, covered) => {
    expect(isSameOrPart(uri, updated)).toBe(covered);
  });
});
