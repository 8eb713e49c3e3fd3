import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { until } from '../../test/kit/until.js';
import { MAX_PIPELINED, RequestAdmission } from './request-admission.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const busyFor = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

/** A server with the admission. `refused` are the URLs for which `refuse` was called. */
async function start(begin: Handler): Promise<{ server: Server; refused: string[]; connections: Socket[] }> {
  const admission = new RequestAdmission();
  const refused: string[] = [];
  const connections: Socket[] = [];
  const server = createServer((request, response) =>
    admission.admit(
      request,
      response,
      () => begin(request, response),
      () => {
        refused.push(request.url!);
        request.socket.destroy();
      },
    ),
  );
  server.on('connection', (socket) => connections.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onCleanup(() => {
    server.close();
    server.closeAllConnections();
  });
  return { server, refused, connections };
}

/** Sends so many requests on one connection without waiting for responses. */
function pipeline(server: Server, count: number): { socket: Socket; statuses: () => string[] } {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onCleanup(() => void socket.destroy());
  socket.on('error', () => {});
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  const requests = Array.from({ length: count }, (_, n) => `GET /${n} HTTP/1.1\r\nhost: a\r\n\r\n`);
  socket.write(requests.join(''));
  return { socket, statuses: () => [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status!) };
}

describe('RequestAdmission', () => {
  it('begins requests that arrive at once in several iterations of the event loop, in their order', async () => {
    const begun: { readonly url: string; readonly iteration: number }[] = [];
    let iteration = 0;
    const next = (): unknown => (iteration++, begun.length < 10 && setImmediate(next));
    const { server } = await start((request, response) => {
      busyFor(3);
      begun.push({ url: request.url!, iteration });
      response.end();
    });
    next();
    pipeline(server, 10);
    await until('all have begun', () => begun.length === 10);
    expect(begun.map(({ url }) => url)).toEqual(Array.from({ length: 10 }, (_, n) => `/${n}`));
    const counts = begun.map(({ iteration: at }) => begun.filter((each) => each.iteration === at).length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  });

  it('begins a limited number of requests in one iteration, however short they are', async () => {
    const perIteration = new Map<number, number>();
    let iteration = 0;
    let begun = 0;
    const next = (): unknown => (iteration++, begun < 600 && setImmediate(next));
    const { server } = await start((_request, response) => {
      begun++;
      perIteration.set(iteration, (perIteration.get(iteration) ?? 0) + 1);
      response.end();
    });
    next();
    for (let n = 0; n < 10; n++) pipeline(server, 60);
    await until('all have begun', () => begun === 600);
    expect(Math.max(...perIteration.values())).toBeLessThanOrEqual(101);
  });

  it('closes a connection with more pipelined requests than the limit, and serves none of those beyond it', async () => {
    const begun: string[] = [];
    const { server, refused } = await start((request) => begun.push(request.url!));
    const { socket } = pipeline(server, MAX_PIPELINED + 50);
    await once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
    expect(refused).toEqual([`/${MAX_PIPELINED + 1}`]);
    expect(begun.length).toBeLessThanOrEqual(MAX_PIPELINED + 1);
  });

  it('serves any number of requests of a client that waits for responses, or pipelines few', async () => {
    const { server, refused } = await start((_request, response) => void setImmediate(() => response.end()));
    const { socket, statuses } = pipeline(server, 10);
    for (let sent = 10; sent < 300; sent++) {
      await until('the next response', () => statuses().length > sent - 10);
      socket.write(`GET /${sent} HTTP/1.1\r\nhost: a\r\n\r\n`);
    }
    await until('all responses', () => statuses().length === 300);
    expect(refused).toEqual([]);
  });

  it('does not begin a request whose client has left meanwhile', async () => {
    const begun: string[] = [];
    const { server, connections } = await start((request, response) => {
      begun.push(request.url!);
      busyFor(5);
      if (begun.length === 1) setImmediate(() => connections[0]!.destroy());
      response.end();
    });
    const { socket } = pipeline(server, 10);
    await once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
    // The second one may begin in the iteration in which the client leaves.
    expect(begun.length).toBeLessThanOrEqual(2);
  });
});
