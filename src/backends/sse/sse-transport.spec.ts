import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../../test/kit/cleanup.js';
import { refusalOf } from '../../../test/kit/promises.js';
import { bodyOf, freePort } from '../../../test/kit/http.js';
import { serve } from '../../../test/kit/serve.js';
import { SseTransport } from './sse-transport.js';
import { TransportError } from '../link/transport.js';

const CREDENTIALS = 'Bearer of-the-config';

function transportTo(url: string): SseTransport {
  const requestInit = { headers: { authorization: CREDENTIALS } };
  const transport = new SseTransport(new URL(url), { requestInit });
  onCleanup(() => transport.close());
  return transport;
}

const openEvents = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('event: endpoint\ndata: /message\n\n');
};

describe('SseTransport', () => {
  it('posts the message that a text contains', async () => {
    const bodies: Promise<string>[] = [];
    const { url } = await serve((request, response) => {
      if (request.method !== 'POST') return openEvents(response);
      bodies.push(bodyOf(request));
      return void response.writeHead(202).end();
    });
    const transport = transportTo(url);
    await transport.start();
    await transport.sendText('{"jsonrpc":"2.0","method":"m","params":{"n":1}}');
    expect(await Promise.all(bodies)).toEqual(['{"jsonrpc":"2.0","method":"m","params":{"n":1}}']);
  });

  it('reports why a server cannot be reached, without its address', async () => {
    const port = await freePort();
    const error = await refusalOf(transportTo(`http://127.0.0.1:${port}/sse?key=secret`).start());
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({
      fault: 'unreachable',
      message: expect.stringMatching(/^cannot connect: \S/),
    });
    expect(error.message).not.toMatch(new RegExp(`${port}|secret`));
  });

  it('reports the status of a refused stream, without the body', async () => {
    const { url } = await serve((_request, response) => response.writeHead(403).end(CREDENTIALS));
    const error = await refusalOf(transportTo(url).start());
    expect(error.message).toContain('403');
    expect(error.message).not.toContain(CREDENTIALS);
  });

  it('reports the status of a refused message, without the body, which may repeat the credentials', async () => {
    const { url } = await serve((request, response) => {
      if (request.method === 'POST') {
        response.writeHead(401).end(`no entry with\n${request.headers.authorization}`);
        return;
      }
      openEvents(response);
    });
    const transport = transportTo(url);
    await transport.start();
    const error = await refusalOf(transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' }));
    expect(error).toMatchObject({ fault: 'broken', message: expect.stringMatching(/\(HTTP 401\)$/) });
  });
});
