import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { collectGarbage } from '../../test/kit/collect-garbage.js';
import { freePort } from '../../test/kit/http.js';
import { serve } from '../../test/kit/serve.js';
import { until } from '../../test/kit/until.js';
import { completesWithin } from '../lib/deadlines/timeout.js';
import { AdminApi } from './admin-api.js';
import { GatewayProblem } from './gateway-problem.js';

const serveResponse = async (status: number, body: string) => {
  const requested: (string | undefined)[] = [];
  const { url } = await serve((request, response) => {
    requested.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.writeHead(status, status === 302 ? { location: 'http://elsewhere.example' } : {}).end(body);
  });
  return { api: new AdminApi({ url, token: 'the-token' }), requested };
};

const problemOf = async (act: Promise<unknown>): Promise<GatewayProblem> => {
  const error = await act.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(GatewayProblem);
  return error as GatewayProblem;
};

describe('AdminApi', () => {
  it('sends the token and encodes names', async () => {
    const { api, requested } = await serveResponse(200, '{"resources":[],"total":7}');
    expect(await api.page('resources', { q: 'a&b=c d', server: undefined, limit: 5 })).toEqual({
      rows: [],
      total: 7,
    });
    await api.switchTool('s', 'a/b?c#d', 'disable');
    expect(requested).toEqual([
      'GET /admin/v1/resources?q=a%26b%3Dc%20d&limit=5 Bearer the-token',
      'POST /admin/v1/servers/s/tools/a%2Fb%3Fc%23d/disable Bearer the-token',
    ]);
  });

  it('reads all pages', async () => {
    const requested: string[] = [];
    const { url } = await serve((request, response) => {
      requested.push(request.url!);
      const isLast = request.url!.includes('cursor=2');
      response.end(
        isLast ? '{"tools":[{"name":"c"}]}' : '{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"2"}',
      );
    });
    const api = new AdminApi({ url });
    const { rows, hasMore } = await api.rows('tools', {});
    expect([rows.map(({ name }) => name), hasMore]).toEqual([['a', 'b', 'c'], false]);
    expect(requested).toEqual(['/admin/v1/tools?limit=1000', '/admin/v1/tools?cursor=2&limit=1000']);
    expect(await api.rows('tools', {}, 2)).toMatchObject({
      rows: [{ name: 'a' }, { name: 'b' }],
      hasMore: true,
    });
    expect(await api.rows('tools', {}, 3)).toMatchObject({ rows: { length: 3 }, hasMore: false });
  });

  it.each([
    [401, '{"detail":"no"}', 'not-allowed', 'the gateway refused the admin token'],
    [403, '{"title":"t","detail":"viewers may read"}', 'not-allowed', 'viewers may read'],
    [404, '{"detail":"there is no server `x`"}', 'not-found', 'there is no server `x`'],
    [409, '{"title":"Conflict"}', 'refused', 'Conflict'],
    [500, 'oops', 'refused', 'the gateway responded with status 500'],
    [200, '<html>', 'refused', 'is not a Gatehouse gateway'],
    [302, '', 'unreachable', 'cannot reach the gateway'],
  ])('maps status %i with %s to a problem', async (status, body, kind, words) => {
    const { api } = await serveResponse(status, body);
    const problem = await problemOf(api.servers());
    expect(problem.kind).toBe(kind);
    expect(problem.message).toContain(words);
  });

  it('explains how to provide a token when it has none', async () => {
    const { url } = await serve((_request, response) => response.writeHead(401).end('{}'));
    expect((await problemOf(new AdminApi({ url }).servers())).message).toContain('GATEHOUSE_ADMIN_TOKEN');
  });

  it.each([
    ['before the response', () => {}],
    ['within the body', (response: ServerResponse) => response.write('{"servers":')],
  ])(
    'ends a request %s when its signal times out, also after a garbage collection',
    async (_when, respond) => {
      let isReceived = false;
      const { url } = await serve((_request, response) => {
        isReceived = true;
        respond(response);
      });
      const problem = problemOf(new AdminApi({ url }).servers(AbortSignal.timeout(1500)));
      await until('the gateway has the request', () => isReceived);
      await collectGarbage();
      expect(await completesWithin(problem, 5000)).toBe(true);
      expect((await problem).message).toContain('it does not respond in time');
    },
  );

  it('reports a refused connection', async () => {
    const api = new AdminApi({ url: `http://127.0.0.1:${await freePort()}` });
    expect((await problemOf(api.servers())).message).toContain('connection refused');
  });
});
