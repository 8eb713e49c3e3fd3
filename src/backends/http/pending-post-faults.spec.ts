import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  answerText,
  faultOf,
  openEvents,
  ScriptedServer,
  sendJson,
  soon,
  HttpHarness,
  type Asked,
} from '../../../test/kit/http-harness.js';

const harness = new HttpHarness();
afterEach(harness.release);

const ask = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"tools/call"}`;
const NOTE = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

describe('an exchange that goes wrong', () => {
  it.each(['application/json', 'text/event-stream', 'text/html'])(
    'stops reading an endless %s',
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
      expect(await faultOf(transport.sendText(ask(1), 1))).toBe(
        type === 'text/html' ? 'broken' : 'too-large',
      );
      const asked = await server.asked.next();
      await soon('the connection to be cut', asked.disconnected);
      // What the kernel buffers of a loopback connection comes on top of the cap.
      expect(sent).toBeLessThan(32 * MiB);
    },
  );

  it('does not begin to read what announces to be too large', async () => {
    const { transport } = await harness.serve(
      ({ response }) =>
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 11 }).write('{'),
      { maxMessageBytes: 10 },
    );
    expect(await faultOf(transport.sendText(ask(1), 1))).toBe('too-large');
  });

  it('gives up a body that stops flowing, but not a stream of events', async () => {
    const streams: Asked[] = [];
    const { transport } = await harness.serve(
      (asked) => {
        if (asked.id === 2) {
          openEvents(asked.response);
          streams.push(asked);
        } else asked.response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      },
      { bodyIdleMs: 60 },
    );
    const quiet = transport.sendText(ask(2), 2);
    expect(await faultOf(transport.sendText(ask(1), 1))).toBe('broken');
    expect(await faultOf(transport.sendText(ask(3), 3))).toBe('broken');
    streams[0]?.response.end(`data: ${answerText(2)}\n\n`);
    await soon('the answer', quiet);
  });

  it('gives up a notification that is never accepted', async () => {
    const { server, transport } = await harness.serve(() => {}, { acceptTimeoutMs: 60 });
    expect(await faultOf(transport.sendText(NOTE))).toBe('broken');
    await soon('the connection to be cut', (await server.asked.next()).disconnected);
  });

  it('is broken when the connection is, before or within the response', async () => {
    const { transport } = await harness.serve(({ response, id, socket }) => {
      if (id === 1) socket.destroy();
      else response.writeHead(200, { 'content-type': 'application/json' }).write('{', () => socket.destroy());
    });
    expect(await faultOf(transport.sendText(ask(1), 1))).toBe('broken');
    expect(await faultOf(transport.sendText(ask(2), 2))).toBe('broken');
  });

  it('reads a body that ends with the connection', async () => {
    const raw = createServer((socket) => {
      socket.once('data', () =>
        socket.end(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${answerText(1)}`,
        ),
      );
    }).listen(0, '127.0.0.1');
    await once(raw, 'listening');
    const { port } = raw.address() as AddressInfo;
    const transport = harness.transportTo(`http://127.0.0.1:${port}`);
    harness.after(async () => void raw.close());
    expect(await faultOf(transport.sendText(ask(1), 1))).toBe('done');
  });

  it('knows a server it cannot connect to, and works when the server is back', async () => {
    const gone = await ScriptedServer.start();
    await gone.stop();
    const transport = harness.transportTo(gone.url);
    await expect(transport.sendText(ask(1), 1)).rejects.toThrow('cannot connect: ECONNREFUSED');
    expect(await faultOf(transport.sendText(ask(2), 2))).toBe('unreachable');
    const back = await ScriptedServer.start(
      ({ response, id }) => sendJson(response, answerText(id)),
      gone.port,
    );
    harness.after(() => back.stop());
    expect(await faultOf(transport.sendText(ask(3), 3))).toBe('done');
  });

  it.each(['https://127.0.0.1:PORT/mcp', 'http://no-such-host.invalid/mcp'])(
    'cannot reach %s',
    async (address) => {
      const { server } = await harness.serve(({ response }) => response.end());
      const transport = harness.transportTo(address.replace('PORT', String(server.port)), {
        connectTimeoutMs: 500,
      });
      expect(await faultOf(transport.sendText(ask(1), 1))).toBe('unreachable');
    },
  );

  it('does not wait for a connection for ever, whatever the answer may take', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const transport = harness.transportTo(`https://127.0.0.1:${port}`, { connectTimeoutMs: 100 });
    harness.after(async () => void silent.close());
    await expect(transport.sendText(ask(1), 1)).rejects.toThrow('cannot connect: UND_ERR_CONNECT_TIMEOUT');
  });
});
