import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  answerText,
  Arrivals,
  faultOf,
  sendJson,
  soon,
  HttpHarness,
  watch,
} from '../../../../test/kit/http-harness.js';

const harness = new HttpHarness();
afterEach(harness.release);

const ask = (id: number, params = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });

const rawAnswer = (id: number, fields = ''): string => {
  const body = answerText(id);
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${fields}\r\n${body}`;
};

/** A server that answers in its own words. */
async function serveRaw(onRequest: (socket: Socket, connection: number) => void) {
  const sockets = new Arrivals<Socket>('a connection');
  const server = createServer((socket) => {
    sockets.add(socket);
    const connection = sockets.all.length;
    socket.on('error', () => {}).on('data', () => onRequest(socket, connection));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  harness.after(async () => {
    for (const socket of sockets.all) socket.destroy();
    server.close();
  });
  const transport = harness.transportTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  return { sockets, transport, ...watch(transport) };
}

describe('connections', () => {
  it('carry one request after the other', async () => {
    const { server, transport } = await harness.serve(({ response, id }) =>
      sendJson(response, answerText(id)),
    );
    for (let id = 1; id <= 20; id++) await transport.sendText(ask(id), id);
    expect(server.connections).toBe(1);
  });

  it('are no more than allowed, and what waits for one is answered too', async () => {
    const { server, transport, messages } = await harness.serve(
      ({ response, id }) => sendJson(response, answerText(id)),
      { connections: 2 },
    );
    const ids = Array.from({ length: 20 }, (_, i) => i);
    await soon('all answers', Promise.all(ids.map((id) => transport.sendText(ask(id), id))));
    expect(server.connections).toBe(2);
    expect(new Set(messages.all.map(({ received }) => received?.requestId))).toEqual(new Set(ids));
  });

  it('take characters of every width, beside a header of another encoding', async () => {
    const { server, transport } = await harness.serve(
      ({ response, id }) => sendJson(response, answerText(id)),
      {},
      { 'x-name': 'é' },
    );
    const text = ask(1, { text: 'é😀ÿ' });
    await transport.sendText(text, 1);
    const asked = await server.asked.next();
    expect(asked.text).toBe(text);
    expect(asked.headers['x-name']).toBe('é');
  });

  it('are not used again when the server says so', async () => {
    const { sockets, transport } = await serveRaw((socket, connection) =>
      socket.write(rawAnswer(connection, 'connection: close\r\n')),
    );
    for (const id of [1, 2, 3]) expect(await faultOf(transport.sendText(ask(id), id))).toBe('done');
    expect(sockets.all).toHaveLength(3);
  });

  it('are not used again when the server is about to close them', async () => {
    const { sockets, transport } = await serveRaw((socket, connection) =>
      socket.write(rawAnswer(connection, 'keep-alive: timeout=1\r\n')),
    );
    for (const id of [1, 2]) expect(await faultOf(transport.sendText(ask(id), id))).toBe('done');
    expect(sockets.all).toHaveLength(2);
  });

  it('are closed by us before the server does, when nobody needs them', async () => {
    const { sockets, transport } = await serveRaw((socket) =>
      socket.write(rawAnswer(1, 'keep-alive: timeout=2\r\n')),
    );
    await transport.sendText(ask(1), 1);
    const socket = await sockets.next();
    await soon('the end of the connection', once(socket, 'close'));
    expect(sockets.all).toHaveLength(1);
  });

  it('are left for others when the server has closed them', async () => {
    const { sockets, transport } = await serveRaw((socket, connection) =>
      socket.write(rawAnswer(connection)),
    );
    await transport.sendText(ask(1), 1);
    const first = await sockets.next();
    const closed = once(first, 'close');
    first.end();
    await soon('the end of the connection', closed);
    expect(await faultOf(transport.sendText(ask(2), 2))).toBe('done');
    expect(sockets.all).toHaveLength(2);
  });

  it('never give anybody an answer that was sent ahead of the question', async () => {
    const { sockets, transport, messages } = await serveRaw((socket, connection) =>
      socket.write(connection === 1 ? rawAnswer(1) + rawAnswer(2) : rawAnswer(2)),
    );
    expect(await faultOf(transport.sendText(ask(1), 1))).toBe('done');
    expect(await faultOf(transport.sendText(ask(2), 2))).toBe('done');
    expect(messages.all).toHaveLength(2);
    expect(sockets.all).toHaveLength(2);
  });

  it('are cut when the server speaks unasked', async () => {
    const { sockets, transport, messages } = await serveRaw((socket, connection) =>
      socket.write(rawAnswer(connection)),
    );
    await transport.sendText(ask(1), 1);
    const first = await sockets.next();
    const closed = once(first, 'close');
    first.write(rawAnswer(2));
    await soon('the connection to be cut', closed);
    expect(await faultOf(transport.sendText(ask(2), 2))).toBe('done');
    expect(messages.all).toHaveLength(2);
    expect(sockets.all).toHaveLength(2);
  });

  it('are not used again where the server answered before it had read everything', async () => {
    const { sockets, transport } = await serveRaw((socket, connection) => {
      socket.pause();
      socket.write(rawAnswer(connection));
    });
    expect(await faultOf(transport.sendText(ask(1, { text: 'x'.repeat(16 * 1024 * 1024) }), 1))).toBe('done');
    expect(await faultOf(transport.sendText(ask(2), 2))).toBe('done');
    expect(sockets.all).toHaveLength(2);
  });

  it('break off alone, with what the server did wrong', async () => {
    const { sockets, transport } = await serveRaw((socket, connection) => {
      if (connection === 2) socket.write('SSH-2.0-OpenSSH_9.6\r\n\r\n');
    });
    const slow = transport.sendText(ask(1), 1);
    const first = await sockets.next();
    await expect(transport.sendText(ask(2), 2)).rejects.toThrow('the response is not HTTP/1.1');
    first.write(rawAnswer(1));
    expect(await faultOf(slow)).toBe('done');
  });

  it('are seldom used again when the server closes them without a word', async () => {
    const { transport } = await serveRaw((socket, connection) => socket.end(rawAnswer(connection)));
    const outcomes: unknown[] = [];
    for (let id = 1; id <= 50; id++) outcomes.push(await faultOf(transport.sendText(ask(id), id)));
    // Nobody can know of a close that is on its way; but in the turn of the answer it would be all of them.
    expect(outcomes.filter((outcome) => outcome === 'done').length).toBeGreaterThan(30);
  });

  it('have no place for what nobody waits for any more', async () => {
    const { server, transport } = await harness.serve(
      ({ response, id }) => void (id !== 0 && sendJson(response, answerText(id))),
      { connections: 1 },
    );
    const first = transport.sendText(ask(0), 0);
    await server.asked.next();
    const waiting = Array.from({ length: 500 }, (_, i) => transport.sendText(ask(i + 1), i + 1));
    const last = transport.sendText(ask(1000), 1000);
    for (let id = 1; id <= waiting.length; id++) transport.abandon(id);
    transport.abandon(0);
    await Promise.all([first, ...waiting]);
    expect(await faultOf(last)).toBe('done');
    expect(server.asked.all.map(({ id }) => id)).toEqual([0, 1000]);
  });

  it('break off alone when nobody waits for the answer any more', async () => {
    const { server, transport } = await harness.serve(({ response, id }) => {
      if (id !== 1) sendJson(response, answerText(id));
    });
    const abandoned = transport.sendText(ask(1), 1);
    const { disconnected } = await server.asked.next();
    const other = transport.sendText(ask(2), 2);
    transport.abandon(1);
    await soon('the connection to be cut', disconnected);
    expect(await faultOf(abandoned)).toBe('done');
    expect(await faultOf(other)).toBe('done');
  });

  it('leave nobody waiting when they are closed', async () => {
    const { server, transport } = await harness.serve(() => {}, { connections: 1 });
    const sent = [1, 2, 3].map((id) => faultOf(transport.sendText(ask(id), id)));
    await server.asked.next();
    await soon('the close', transport.close());
    expect(await Promise.all(sent)).toEqual(['broken', 'broken', 'broken']);
    await soon(
      'the connections to go',
      Promise.all([...server.sockets].map((socket) => once(socket, 'close'))),
    );
  });
});
