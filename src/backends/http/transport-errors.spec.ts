import { describe, expect, it } from '@jest/globals';
import { isEncoded, mediaTypeOf } from './post-client/response-head.js';
import { httpError } from './transport-errors.js';

describe('the head of a response', () => {
  it.each([
    ['application/json', 'application/json'],
    ['Application/JSON; charset=utf-8', 'application/json'],
    [' text/event-stream ;x', 'text/event-stream'],
    [undefined, ''],
    [['text/html', 'application/json'], 'text/html'],
  ])('has in %j the media type %j', (value, type) => {
    expect(mediaTypeOf({ 'content-type': value })).toBe(type);
  });

  it.each([
    ['gzip', true],
    ['identity', false],
    ['Identity', false],
    [undefined, false],
  ])('is encoded by %j: %j', (value, encoded) => {
    expect(isEncoded({ 'content-encoding': value })).toBe(encoded);
  });

  it.each([
    ['3', 3000],
    [' 0 ', 0],
    ['soon', undefined],
    ['-1', undefined],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    [undefined, undefined],
  ])('asks with Retry-After %j for %j ms', (value, retryAfterMs) => {
    expect(httpError(503, { 'retry-after': value }).details).toEqual(
      retryAfterMs === undefined ? { httpStatus: 503 } : { httpStatus: 503, retryAfterMs },
    );
  });

  it('counts to the date in Retry-After', () => {
    const { retryAfterMs } = httpError(429, {
      'retry-after': new Date(Date.now() + 60_000).toUTCString(),
    }).details;
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it('says where a redirect leads, without the query', () => {
    expect(httpError(307, { location: 'https://elsewhere/mcp?token=secret' }).message).toBe(
      'HTTP 307 Temporary Redirect to https://elsewhere/mcp, which is not followed',
    );
  });
});
