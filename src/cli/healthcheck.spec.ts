import { describe, expect, it } from '@jest/globals';
import { freePort } from '../../test/kit/http.js';
import { serve } from '../../test/kit/serve.js';
import { healthcheck } from './healthcheck.js';

describe('healthcheck', () => {
  it.each([
    [200, true],
    [503, false],
    [404, false],
    [302, false],
  ])('of a gateway that answers %i is %s', async (status, healthy) => {
    const asked: unknown[] = [];
    const { url } = await serve((request, response) => {
      asked.push(request.url);
      response.writeHead(status).end('{}');
    });
    expect(await healthcheck(url)).toBe(healthy);
    expect(asked).toEqual(['/health/live']);
  });

  it('is false where nobody listens', async () => {
    expect(await healthcheck(`http://127.0.0.1:${await freePort()}`)).toBe(false);
  });

  it('is false of something that does not answer', async () => {
    const { url } = await serve(() => {});
    expect(await healthcheck(url)).toBe(false);
  });

  it('is false of what is no address', async () => {
    expect(await healthcheck('nonsense')).toBe(false);
  });
});
