import { describe, expect, it } from '@jest/globals';
import { httpError } from './transport-errors.js';

describe('httpError', () => {
  it.each([
    ['3', 3000],
    [' 0 ', 0],
    ['soon', undefined],
    ['-1', undefined],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    [undefined, undefined],
  ])('reads Retry-After %j as %j ms', (value, retryAfterMs) => {
    expect(httpError(503, { 'retry-after': value }).details).toEqual(
      retryAfterMs === undefined ? { httpStatus: 503 } : { httpStatus: 503, retryAfterMs },
    );
  });

  it('reads a date in Retry-After as the time until then', () => {
    const { retryAfterMs } = httpError(429, {
      'retry-after': new Date(Date.now() + 60_000).toUTCString(),
    }).details;
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it('names the target of a redirect without its query', () => {
    expect(httpError(307, { location: 'https://elsewhere/mcp?token=secret' }).message).toBe(
      'HTTP 307 Temporary Redirect to https://elsewhere/mcp, which is not followed',
    );
  });
});
