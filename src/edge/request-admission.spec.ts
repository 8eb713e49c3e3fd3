import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { until } from '../../test/kit/until.js';
import {
  MAX_ALL_PIPELINED,
  MAX_PIPELINED,
  RequestAdmission,
  type PipeliningLimit,
} from './request-admission.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const busyFor = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

interface Started {
  readonly server: Server;
  /** The URLs for which `refuse` was called. */
  readonly refused: string[];
  /** The limits with which `refuse` was called. */
  readonly limits: PipeliningLimit[];
  readonly connections: Socket[];
  /** Number of requests that Node has parsed. */
  readonly parsed: () => number;
}

/** A server with the admission. */
async function start(begin: Handler): Promise<Started> {
  const admission = new RequestAdmission();
  const refused: string[] = [];
  const limits: PipeliningLimit[] = [];
  const connections: Socket[] = [];
  let parsed = 0;
  const server = createServer((request, response) => {
    parsed++;
    admission.admit(request, response, begin, (socket, limit) => {
      refused.push(request.url!);
      limits.push(limit);
      socket.destroy();
    });
  });
  server.on('connection', (socket) => connections.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onCleanup(() => {
    server.close();
    server.closeAllConnections();
  });
  return { server, refused, limits, connections, parsed: () => parsed };
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

  it('parses nothing that follows the refused request, also when it has arrived', async () => {
    const { server, limits, parsed } = await start(() => {});
    const { socket } = pipeline(server, 1000);
    await once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
    expect(limits).toEqual(['pipelinedPerConnection']);
    expect(parsed()).toBe(MAX_PIPELINED + 2);
  });

  it('closes a connection that pipelines while many requests wait on other connections, until these end', async () => {
    const { server, limits, connections, parsed } = await start(() => {});
    const full = Math.ceil(MAX_ALL_PIPELINED / MAX_PIPELINED);
    for (let n = 0; n < full; n++) pipeline(server, MAX_PIPELINED + 1);
    await until('the requests have arrived', () => parsed() === full * (MAX_PIPELINED + 1));
    const single = pipeline(server, 1);
    const { socket } = pipeline(server, 100);
    await once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
    await until('the single request', () => parsed() === full * (MAX_PIPELINED + 1) + 3);
    expect(limits).toEqual(['pipelined']);
    expect(single.socket.closed).toBe(false);
    for (const connection of connections.slice(0, full)) connection.destroy();
    const before = parsed();
    pipeline(server, 3);
    await until('pipelining is possible again', () => parsed() === before + 3);
    expect(limits).toEqual(['pipelined']);
  });

  it('begins a request when the response to the previous one of its connection is finished', async () => {
    const begun: ServerResponse[] = [];
    const { server, parsed } = await start((_request, response) => void begun.push(response));
    const { statuses } = pipeline(server, 3);
    await until('all have arrived', () => parsed() === 3);
    for (const answered of [1, 2, 3]) {
      await until('the next one has begun', () => begun.length === answered);
      begun.at(-1)!.end();
      await until('its response', () => statuses().length === answered);
    }
    expect(statuses()).toEqual(['200', '200', '200']);
  });

  it('does not begin the requests that follow one after whose response the connection is closed', async () => {
    const begun: string[] = [];
    const { server } = await start((request, response) => {
      begun.push(request.url!);
      response.setHeader('connection', 'close').end();
    });
    const { socket, statuses } = pipeline(server, 3);
    await once(socket, 'close', { signal: AbortSignal.timeout(10_000) });
    expect([begun, statuses()]).toEqual([['/0'], ['200']]);
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
