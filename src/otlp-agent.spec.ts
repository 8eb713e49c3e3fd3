import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect, it } from '@jest/globals';
import { EgressProxy } from '../test/kit/egress-proxy.js';
import { ScriptedHttpServer, sendJson } from '../test/kit/http-harness.js';
import { EgressProxies } from './config/egress-proxies.js';
import { agentFor } from './otlp-agent.js';

it('agentFor sends http requests to the proxy in absolute form', async () => {
  const proxy = await EgressProxy.start();
  const server = await ScriptedHttpServer.start(({ response }) => sendJson(response, '{}'));
  const url = new URL(`http://otel.internal:${server.port}/v1/traces`);
  const agent = agentFor(url, new EgressProxies({ HTTP_PROXY: proxy.url.replace('//', '//u:p@') }));
  const outgoing = request({
    hostname: url.hostname,
    port: url.port,
    path: url.pathname,
    method: 'POST',
    agent,
  });
  outgoing.end('{}');
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  expect(proxy.requests).toMatchObject([{ method: 'POST', target: url.href, authorization: 'Basic dTpw' }]);
  response.destroy();
  await server.stop();
});
