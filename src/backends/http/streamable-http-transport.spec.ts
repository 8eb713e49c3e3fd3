import { afterEach, describe, expect, it } from '@jest/globals';
import {
  callText,
  responseText,
  faultOf,
  startEventStream,
  sendJson,
  HttpHarness,
  type RequestScript,
} from '../../../test/kit/http-harness.js';
import { within } from '../../../test/kit/until.js';

const harness = new HttpHarness();
afterEach(harness.release);

const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' } as const;

const respondToAll: RequestScript = ({ response, id, method }) => {
  if (method !== 'POST') response.writeHead(200).end();
  else if (id === undefined) response.writeHead(202).end();
  else sendJson(response, responseText(id), 200, { 'mcp-session-id': `s${Number(id)}` });
};

describe('StreamableHttpTransport', () => {
  it('sends the session id of the first response and the protocol version with every later request', async () => {
    const { server, transport } = await harness.serve(respondToAll);
    await transport.send({ jsonrpc: '2.0', id: 0, method: 'initialize' });
    expect(transport.sessionId).toBe('s0');
    transport.setProtocolVersion('2025-06-18');
    await transport.send(INITIALIZED);
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
    expect(transport.sessionId).toBe('s0');
    expect(server.requests.all.map(({ headers }) => headers['mcp-session-id'])).toEqual([
      undefined,
      's0',
      's0',
    ]);
    expect(server.requests.all.map(({ headers }) => headers['mcp-protocol-version'])).toEqual([
      undefined,
      '2025-06-18',
      '2025-06-18',
    ]);
    expect(server.requests.all[1]).toMatchObject({
      method: 'POST',
      url: '/mcp',
      text: JSON.stringify(INITIALIZED),
    });
  });

  it('requests the path with its query', async () => {
    const { server } = await harness.serve(respondToAll);
    await harness.transportTo(`${server.url}?key=1`).sendText(callText(1), 1);
    expect((await server.requests.next()).url).toBe('/mcp?key=1');
  });

  it('sends configured headers, except reserved ones', async () => {
    const { server, transport } = await harness.serve(
      respondToAll,
      {},
      { Authorization: 'Bearer t', Accept: 'x/y', 'Mcp-Session-Id': 'stolen' },
    );
    await transport.sendText(callText(1), 1);
    const { headers } = await server.requests.next();
    expect(headers).toMatchObject({
      authorization: 'Bearer t',
      accept: 'application/json, text/event-stream',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
    });
    expect(headers).not.toHaveProperty('mcp-session-id');
  });

  it('reports HTTP 404 as an expired session only within a session', async () => {
    let isExpired = true;
    const { transport } = await harness.serve((incoming) =>
      isExpired ? incoming.response.writeHead(404).end() : respondToAll(incoming),
    );
    expect(await faultOf(transport.sendText(callText(0), 0))).toBe('refused');
    isExpired = false;
    await transport.sendText(callText(1), 1);
    isExpired = true;
    expect(await faultOf(transport.sendText(callText(2), 2))).toBe('session-expired');
    expect(await faultOf(transport.send(INITIALIZED))).toBe('session-expired');
  });

  it.each(['before the response', 'within the response'])(
    'closes the connection of a request that is abandoned %s',
    async (when) => {
      const { server, transport, messages } = await harness.serve(({ response }) => {
        if (when === 'within the response') startEventStream(response);
      });
      const sent = transport.sendText(callText(1), 1);
      const other = transport.sendText(callText(2), 2);
      const [first, second] = [await server.requests.next(), await server.requests.next()];
      transport.abandon(1);
      transport.abandon(99);
      expect(await faultOf(sent)).toBe('done');
      await within('the connection to be closed', first.disconnected);
      if (when !== 'within the response') startEventStream(second.response);
      second.response.end(`data: ${responseText(2)}\n\n`);
      await within('the other answer', other);
      expect(messages.all).toHaveLength(1);
    },
  );

  it('never sends a request that was abandoned while it waited for a connection', async () => {
    const { server, transport } = await harness.serve(() => {}, { connections: () => 1 });
    const first = transport.sendText(callText(1), 1);
    const waiting = transport.sendText(callText(2), 2);
    const third = transport.sendText(callText(3), 3);
    await server.requests.next();
    transport.abandon(2);
    expect(await faultOf(waiting)).toBe('done');
    transport.abandon(1);
    expect(await faultOf(first)).toBe('done');
    expect((await server.requests.next()).id).toBe(3);
    transport.abandon(3);
    await third;
    expect(server.requests.all).toHaveLength(2);
  });

  it('ends the session and fails all pending posts on close', async () => {
    const { server, transport, closes } = await harness.serve((incoming) => {
      if (incoming.id === 0 || incoming.method === 'DELETE') respondToAll(incoming);
      else if (incoming.id === 2 || incoming.method === 'GET') startEventStream(incoming.response);
    });
    await transport.sendText(callText(0), 0);
    transport.openNotificationStream();
    const waiting = [
      transport.sendText(callText(1), 1),
      transport.sendText(callText(2), 2),
      transport.send(INITIALIZED),
    ].map(faultOf);
    for (let n = 0; n < 5; n++) await server.requests.next();
    const closing = transport.close();
    expect(await Promise.all(waiting)).toEqual(['broken', 'broken', 'broken']);
    await within('the close', Promise.all([closing, transport.close()]));
    expect(await server.requests.next()).toMatchObject({
      method: 'DELETE',
      headers: { 'mcp-session-id': 's0' },
    });
    expect(closes.all).toHaveLength(1);
    expect(await faultOf(transport.sendText(callText(3), 3))).toBe('broken');
  });

  it('closes within the timeout when the server does not confirm the end of the session', async () => {
    const { transport, closes } = await harness.serve(
      (incoming) => incoming.method === 'POST' && respondToAll(incoming),
    );
    await transport.sendText(callText(0), 0);
    const startedAt = performance.now();
    await within('the close', transport.close());
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(closes.all).toHaveLength(1);
  });

  it('closes without having connected', async () => {
    const { server, transport, closes } = await harness.serve(respondToAll);
    await transport.close();
    expect(closes.all).toHaveLength(1);
    expect(server.connections).toBe(0);
  });

  it('leaks no sockets or listeners over a thousand requests', async () => {
    const { server, transport, messages } = await harness.serve(respondToAll);
    for (let id = 0; id < 1000; id++) await transport.sendText(callText(id), id);
    expect(messages.all).toHaveLength(1000);
    expect(server.connections).toBeLessThanOrEqual(2);
    const listeners = [...server.sockets].flatMap((socket) =>
      socket.eventNames().map((name) => socket.listenerCount(name)),
    );
    expect(Math.max(...listeners)).toBeLessThan(10);
    await transport.close();
    await within(
      'the connections to close',
      Promise.all([...server.sockets].map((socket) => new Promise((gone) => socket.once('close', gone)))),
    );
    expect(server.sockets.size).toBe(0);
  });
});
