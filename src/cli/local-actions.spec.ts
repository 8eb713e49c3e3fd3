import { describe, expect, it } from '@jest/globals';
import { freePort } from '../../test/kit/http.js';
import { serve } from '../../test/kit/serve.js';
import { isAlive } from './local-actions.js';

describe('isAlive', () => {
  it.each([
    [200, true],
    [503, false],
    [404, false],
    [302, false],
  ])('of a gateway that answers %i is %s', async (status, expected) => {
    const requested: unknown[] = [];
    const { url } = await serve((request, response) => {
      requested.push(request.url);
      response.writeHead(status).end('{}');
    });
    expect(await isAlive(url)).toBe(expected);
    expect(requested).toEqual(['/health/live']);
  });

  it('is false if the connection is refused', async () => {
    expect(await isAlive(`http://127.0.0.1:${await freePort()}`)).toBe(false);
  });

  it('is false if no answer comes in time', async () => {
    const { url } = await serve(() => {});
    expect(await isAlive(url)).toBe(false);
  });

  it('is false for an invalid URL', async () => {
    expect(await isAlive('not a URL')).toBe(false);
  });
});
