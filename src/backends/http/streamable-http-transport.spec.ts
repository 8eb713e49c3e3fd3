import { afterEach, describe, expect, it } from '@jest/globals';
import {
  answerText,
  faultOf,
  openEvents,
  sendJson,
  soon,
  HttpHarness,
  type Script,
} from '../../../test/kit/http-harness.js';

const harness = new HttpHarness();
afterEach(harness.release);

const ask = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"tools/call"}`;
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' } as const;

const answerAll: Script = ({ response, id, method }) => {
  if (method !== 'POST') response.writeHead(200).end();
  else if (id === undefined) response.writeHead(202).end();
  else sendJson(response, answerText(id), 200, { 'mcp-session-id': `s${Number(id)}` });
};

describe('StreamableHttpTransport', () => {
  it('sends the session of the first answer and the agreed version with everything after', async () => {
    const { server, transport } = await harness.serve(answerAll);
    await transport.send({ jsonrpc: '2.0', id: 0, method: 'initialize' });
    expect(transport.sessionId).toBe('s0');
    transport.setProtocolVersion('2025-06-18');
    await transport.send(INITIALIZED);
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
    expect(transport.sessionId).toBe('s0');
    expect(server.asked.all.map(({ headers }) => headers['mcp-session-id'])).toEqual([undefined, 's0', 's0']);
    expect(server.asked.all.map(({ headers }) => headers['mcp-protocol-version'])).toEqual([
      undefined,
      '2025-06-18',
      '2025-06-18',
    ]);
    expect(server.asked.all[1]).toMatchObject({
      method: 'POST',
      url: '/mcp',
      text: JSON.stringify(INITIALIZED),
    });
  });

  it('asks for the whole address, query included', async () => {
    const { server } = await harness.serve(answerAll);
    await harness.transportTo(`${server.url}?key=1`).sendText(ask(1), 1);
    expect((await server.asked.next()).url).toBe('/mcp?key=1');
  });

  it('sends configured headers, but none in the place of its own', async () => {
    const { server, transport } = await harness.serve(
      answerAll,
      {},
      { Authorization: 'Bearer t', Accept: 'x/y', 'Mcp-Session-Id': 'stolen' },
    );
    await transport.sendText(ask(1), 1);
    const { headers } = await server.asked.next();
    expect(headers).toMatchObject({
      authorization: 'Bearer t',
      accept: 'application/json, text/event-stream',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
    });
    expect(headers).not.toHaveProperty('mcp-session-id');
  });

  it('knows a lost session from a wrong address', async () => {
    let isRestarted = true;
    const { transport } = await harness.serve((asked) =>
      isRestarted ? asked.response.writeHead(404).end() : answerAll(asked),
    );
    expect(await faultOf(transport.sendText(ask(0), 0))).toBe('refused');
    isRestarted = false;
    await transport.sendText(ask(1), 1);
    isRestarted = true;
    expect(await faultOf(transport.sendText(ask(2), 2))).toBe('session-lost');
    expect(await faultOf(transport.send(INITIALIZED))).toBe('session-lost');
  });

  it.each(['before the response', 'within it'])(
    'abandons a request %s: the server sees it go',
    async (when) => {
      const { server, transport, messages } = await harness.serve(({ response }) => {
        if (when === 'within it') openEvents(response);
      });
      const sent = transport.sendText(ask(1), 1);
      const other = transport.sendText(ask(2), 2);
      const [first, second] = [await server.asked.next(), await server.asked.next()];
      transport.abandon(1);
      transport.abandon(99);
      expect(await faultOf(sent)).toBe('done');
      await soon('the connection to be cut', first.disconnected);
      if (when !== 'within it') openEvents(second.response);
      second.response.end(`data: ${answerText(2)}\n\n`);
      await soon('the other answer', other);
      expect(messages.all).toHaveLength(1);
    },
  );

  it('never sends what was abandoned while it waited for a connection', async () => {
    const { server, transport } = await harness.serve(() => {}, { connections: 1 });
    const first = transport.sendText(ask(1), 1);
    const waiting = transport.sendText(ask(2), 2);
    const third = transport.sendText(ask(3), 3);
    await server.asked.next();
    transport.abandon(2);
    expect(await faultOf(waiting)).toBe('done');
    transport.abandon(1);
    expect(await faultOf(first)).toBe('done');
    expect((await server.asked.next()).id).toBe(3);
    transport.abandon(3);
    await third;
    expect(server.asked.all).toHaveLength(2);
  });

  it('says goodbye and settles everything when it is closed', async () => {
    const { server, transport, closes } = await harness.serve((asked) => {
      if (asked.id === 0 || asked.method === 'DELETE') answerAll(asked);
      else if (asked.id === 2 || asked.method === 'GET') openEvents(asked.response);
    });
    await transport.sendText(ask(0), 0);
    transport.openNotificationStream();
    const waiting = [
      transport.sendText(ask(1), 1),
      transport.sendText(ask(2), 2),
      transport.send(INITIALIZED),
    ].map(faultOf);
    for (let n = 0; n < 5; n++) await server.asked.next();
    const closing = transport.close();
    expect(await Promise.all(waiting)).toEqual(['broken', 'broken', 'broken']);
    await soon('the close', Promise.all([closing, transport.close()]));
    expect(await server.asked.next()).toMatchObject({
      method: 'DELETE',
      headers: { 'mcp-session-id': 's0' },
    });
    expect(closes.all).toHaveLength(1);
    expect(await faultOf(transport.sendText(ask(3), 3))).toBe('broken');
  });

  it('does not wait long for a server that will not say goodbye', async () => {
    const { transport, closes } = await harness.serve((asked) => asked.method === 'POST' && answerAll(asked));
    await transport.sendText(ask(0), 0);
    const began = performance.now();
    await soon('the close', transport.close());
    expect(performance.now() - began).toBeLessThan(2000);
    expect(closes.all).toHaveLength(1);
  });

  it('closes before it was ever used', async () => {
    const { server, transport, closes } = await harness.serve(answerAll);
    await transport.close();
    expect(closes.all).toHaveLength(1);
    expect(server.connections).toBe(0);
  });

  it('leaves nothing behind after a thousand requests', async () => {
    const { server, transport, messages } = await harness.serve(answerAll);
    for (let id = 0; id < 1000; id++) await transport.sendText(ask(id), id);
    expect(messages.all).toHaveLength(1000);
    expect(server.connections).toBeLessThanOrEqual(2);
    const listeners = [...server.sockets].flatMap((socket) =>
      socket.eventNames().map((name) => socket.listenerCount(name)),
    );
    expect(Math.max(...listeners)).toBeLessThan(10);
    await transport.close();
    await soon(
      'the connections to be gone',
      Promise.all([...server.sockets].map((socket) => new Promise((gone) => socket.once('close', gone)))),
    );
    expect(server.sockets.size).toBe(0);
  });
});
