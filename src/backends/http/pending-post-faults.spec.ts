import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  callText,
  responseText,
  faultOf,
  startEventStream,
  ScriptedHttpServer,
  sendJson,
  HttpHarness,
  type IncomingRequest,
} from '../../../test/kit/http-harness.js';
import { within } from '../../../test/kit/until.js';

const harness = new HttpHarness();
afterEach(harness.release);

const NOTIFICATION = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

describe('PendingPost with a failing server', () => {
  it.each(['application/json', 'text/event-stream', 'text/html'])(
    'closes the connection of an endless %s body',
    async (type) => {
      const MiB = 1024 * 1024;
      let sent = 0;
      const { server, transport } = await harness.serve(
        ({ response }) => {
          response.writeHead(200, { 'content-type': type });
          response.write('data: "');
          const more = (): void => {
            if (!response.writable) return;
            sent += MiB;
            response.write(Buffer.alloc(MiB, 'x'), more);
          };
          more();
        },
        { maxMessageBytes: 4 * MiB },
      );
      expect(await faultOf(transport.sendText(callText(1), 1))).toBe(
        type === 'text/html' ? 'broken' : 'too-large',
      );
      const incoming = await server.requests.next();
      await within('the connection to be closed', incoming.disconnected);
      // More than the limit, because of the kernel buffers of the loopback connection.
      expect(sent).toBeLessThan(32 * MiB);
    },
  );

  it('fails before the body arrives when content-length is over the size limit', async () => {
    const { transport } = await harness.serve(
      ({ response }) =>
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 11 }).write('{'),
      { maxMessageBytes: 10 },
    );
    expect(await faultOf(transport.sendText(callText(1), 1))).toBe('too-large');
  });

  it.each([
    ['within', 2000, 'done'],
    ['over', 100, 'refused'],
  ])('reads a JSON-RPC error %s the size limit in an HTTP error', async (_what, maxMessageBytes, outcome) => {
    const { transport } = await harness.serve(
      ({ response, id }) => {
        const error = { code: -1, message: 'x'.repeat(1000) };
        sendJson(response, JSON.stringify({ jsonrpc: '2.0', id, error }), 500);
      },
      { maxMessageBytes },
    );
    expect(await faultOf(transport.sendText(callText(1), 1))).toBe(outcome);
  });

  it('fails when a JSON body stalls, but not when an event stream is silent', async () => {
    const streams: IncomingRequest[] = [];
    const { transport } = await harness.serve(
      (incoming) => {
        if (incoming.id === 2) {
          startEventStream(incoming.response);
          streams.push(incoming);
        } else incoming.response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      },
      { bodyIdleMs: 60 },
    );
    const silent = transport.sendText(callText(2), 2);
    expect(await faultOf(transport.sendText(callText(1), 1))).toBe('broken');
    expect(await faultOf(transport.sendText(callText(3), 3))).toBe('broken');
    streams[0]?.response.end(`data: ${responseText(2)}\n\n`);
    await within('the answer', silent);
  });

  it('fails when a notification is not accepted in time', async () => {
    const { server, transport } = await harness.serve(() => {}, { acceptTimeoutMs: 1000 });
    expect(await faultOf(transport.sendText(NOTIFICATION))).toBe('broken');
    await within('the connection to be closed', (await server.requests.next()).disconnected);
  });

  it('fails when the connection closes before or within the response', async () => {
    const { transport } = await harness.serve(({ response, id, socket }) => {
      if (id === 1) socket.destroy();
      else response.writeHead(200, { 'content-type': 'application/json' }).write('{', () => socket.destroy());
    });
    expect(await faultOf(transport.sendText(callText(1), 1))).toBe('broken');
    expect(await faultOf(transport.sendText(callText(2), 2))).toBe('broken');
  });

  it('reads a body that ends with the connection', async () => {
    const raw = createServer((socket) => {
      socket.once('data', () =>
        socket.end(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${responseText(1)}`,
        ),
      );
    }).listen(0, '127.0.0.1');
    await once(raw, 'listening');
    const { port } = raw.address() as AddressInfo;
    const transport = harness.transportTo(`http://127.0.0.1:${port}`);
    harness.onRelease(async () => void raw.close());
    expect(await faultOf(transport.sendText(callText(1), 1))).toBe('done');
  });

  it('reports an unreachable server, and succeeds when the server is back', async () => {
    const gone = await ScriptedHttpServer.start();
    await gone.stop();
    const transport = harness.transportTo(gone.url);
    await expect(transport.sendText(callText(1), 1)).rejects.toThrow('cannot connect: ECONNREFUSED');
    expect(await faultOf(transport.sendText(callText(2), 2))).toBe('unreachable');
    const back = await ScriptedHttpServer.start(
      ({ response, id }) => sendJson(response, responseText(id)),
      gone.port,
    );
    harness.onRelease(() => back.stop());
    expect(await faultOf(transport.sendText(callText(3), 3))).toBe('done');
  });

  it.each(['https://127.0.0.1:PORT/mcp', 'http://no-such-host.invalid/mcp'])(
    'reports %s as unreachable',
    async (address) => {
      const { server } = await harness.serve(({ response }) => response.end());
      const transport = harness.transportTo(address.replace('PORT', String(server.port)), {
        connectTimeoutMs: 500,
      });
      expect(await faultOf(transport.sendText(callText(1), 1))).toBe('unreachable');
    },
  );

  it('fails when a connection takes longer than the connect timeout', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const transport = harness.transportTo(`https://127.0.0.1:${port}`, { connectTimeoutMs: 100 });
    harness.onRelease(async () => void silent.close());
    await expect(transport.sendText(callText(1), 1)).rejects.toThrow(
      'cannot connect: UND_ERR_CONNECT_TIMEOUT',
    );
  });
});
