import { describe, expect, it } from '@jest/globals';
import { isEncoded, mediaTypeOf } from './response-head.js';

describe('response headers', () => {
  it.each([
    ['application/json', 'application/json'],
    ['Application/JSON; charset=utf-8', 'application/json'],
    [' text/event-stream ;x', 'text/event-stream'],
    [undefined, ''],
    [['text/html', 'application/json'], 'text/html'],
  ])('with content type %j have the media type %j', (value, type) => {
    expect(mediaTypeOf({ 'content-type': value })).toBe(type);
  });

  it.each([
    ['gzip', true],
    ['identity', false],
    ['Identity', false],
    [undefined, false],
  ])('with content encoding %j are encoded: %j', (value, encoded) => {
    expect(isEncoded({ 'content-encoding': value })).toBe(encoded);
  });
});
