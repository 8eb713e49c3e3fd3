import { createServer } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { TransportError } from '../transport.js';
import {
  answerText,
  faultOf,
  openEvents,
  ScriptedServer,
  sendJson,
  soon,
  watch,
  type Asked,
  type Script,
} from './scripted-server.js';
import { StreamableHttpTransport, type StreamableHttpOptions } from './streamable-http-transport.js';

const releases: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const release of releases.splice(0)) await release();
});

async function serve(script: Script, options: StreamableHttpOptions = {}) {
  const server = await ScriptedServer.start(script);
  const transport = new StreamableHttpTransport({ url: server.url }, options);
  releases.push(
    () => transport.close(),
    () => server.stop(),
  );
  return { server, transport, ...watch(transport) };
}

const ask = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"tools/call"}`;
const NOTE = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** What an answer may look like that a careless relay would change. */
const PECULIAR =
  '{ "jsonrpc":"2.0","id":1,"result":{"n":12345678901234567890,"f":1.0,"e":"\\u00e9","ü":"é😀","x":null}}\n';

const answers = (type: string, body: string, status = 200, headers = {}) => ({
  type,
  body,
  status,
  headers,
});

describe('an exchange', () => {
  it('hands over a JSON answer byte for byte, before it is settled', async () => {
    const { transport, messages } = await serve(({ response }) => sendJson(response, PECULIAR));
    await transport.sendText(ask(1), 1);
    expect(messages.all).toHaveLength(1);
    expect(messages.all[0]?.received).toEqual({ text: PECULIAR, requestId: 1 });
    expect(messages.all[0]?.message).toEqual(JSON.parse(PECULIAR));
  });

  it('puts characters together that came in different chunks', async () => {
    const { transport, messages } = await serve(async ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      for (const byte of Buffer.from(PECULIAR)) {
        await new Promise((written) => response.write(Buffer.from([byte]), written));
      }
      response.end();
    });
    await transport.sendText(ask(1), 1);
    expect(messages.all[0]?.received?.text).toBe(PECULIAR);
  });

  it('hands over everything on an event stream, with the request it belongs to', async () => {
    const line = PECULIAR.trim();
    const { transport, messages } = await serve(({ response }) => {
      openEvents(response);
      response.write(': hello\r\n\r\nevent: ping\r\ndata: not for us\r\n\r\n');
      response.write('data: {"jsonrpc":"2.0",\ndata: "method":"notifications/progress"}\n\n');
      response.end(`event: message\r\ndata: ${line}\r\n\r\n`);
    });
    await transport.sendText(ask(1), 1);
    expect(messages.all.map(({ received }) => received)).toEqual([
      { text: '{"jsonrpc":"2.0",\n"method":"notifications/progress"}', requestId: 1 },
      { text: line, requestId: 1 },
    ]);
  });

  it('keeps concurrent streams apart', async () => {
    const open: Asked[] = [];
    const { transport, messages } = await serve((asked) => {
      openEvents(asked.response);
      open.push(asked);
      if (open.length < 20) return;
      for (const { response, id } of open) {
        response.write(`data: {"jsonrpc":"2.0","method":"m","params":{"of":${Number(id)}}}\n\n`);
      }
      for (const { response, id } of open.toReversed()) response.end(`data: ${answerText(id)}\n\n`);
    });
    const ids = Array.from({ length: 20 }, (_, i) => i);
    await soon('all answers', Promise.all(ids.map((id) => transport.sendText(ask(id), id))));
    expect(messages.all).toHaveLength(40);
    for (const { message, received } of messages.all) {
      const { id, params } = message as { id?: number; params?: { of: number } };
      expect(received?.requestId).toBe(id ?? params?.of);
    }
  });

  it('is settled by the answer, and gives a server that does not end its stream a moment to do so', async () => {
    const { server, transport } = await serve(({ response, id }) => {
      openEvents(response);
      response.write(`data: ${answerText(id)}\n\n`);
    });
    await soon('the answer', transport.sendText(ask(1), 1));
    expect(server.sockets.size).toBe(1);
    await soon('the stream to be cut', (await server.asked.next()).disconnected);
  });

  it.each([202, 200, 204])('takes HTTP %d for a notification', async (status) => {
    const { transport, messages } = await serve(({ response }) => response.writeHead(status).end());
    await transport.sendText(NOTE);
    expect(messages.all).toEqual([]);
  });

  it('hands over each message of a batch', async () => {
    const { transport, messages } = await serve(({ response }) =>
      sendJson(response, `[{"jsonrpc":"2.0","method":"m"},7,null,${answerText(1)}]`),
    );
    await transport.sendText(ask(1), 1);
    expect(messages.all.map(({ received }) => received)).toEqual([
      { text: '{"jsonrpc":"2.0","method":"m"}', requestId: 1 },
      { text: answerText(1), requestId: 1 },
    ]);
  });

  it('tells of a handler that throws, and goes on', async () => {
    const { transport, errors } = await serve(({ response, id }) => {
      openEvents(response);
      response.end(`data: {"jsonrpc":"2.0","method":"m"}\n\ndata: ${answerText(id)}\n\n`);
    });
    Object.assign(transport, {
      onmessage: () => {
        throw new Error('careless');
      },
    });
    await transport.sendText(ask(1), 1);
    expect(errors.all.map(({ message }) => message)).toEqual(['careless', 'careless']);
  });

  it.each([
    ['what is not JSON', answers('application/json', '{"jsonrpc":'), 'broken', /not JSON/],
    ['nothing', answers('application/json', ''), 'broken', /not JSON/],
    ['a scalar', answers('application/json', '42'), 'broken', /does not hold the answer/],
    ['another answer', answers('application/json', answerText(2)), 'broken', /does not hold the answer/],
    ['HTML', answers('text/html', '<p>'), 'broken', /HTTP 200 with text\/html/],
    ['202', answers('', '', 202), 'broken', /HTTP 202 with no content type/],
    ['an event that is not JSON', answers('text/event-stream', 'data: oops\n\n'), 'broken', /not JSON/],
    [
      'a stream without the answer',
      answers('text/event-stream', ': bye\n\n'),
      'broken',
      /ended before the answer/,
    ],
    ['gzip', answers('application/json', 'x', 200, { 'content-encoding': 'gzip' }), 'broken', /compressed/],
    ['an error', answers('text/plain', 'no', 500), 'refused', /^HTTP 500 Internal Server Error$/],
    ['404 without a session', answers('text/plain', 'no', 404), 'refused', /^HTTP 404 Not Found$/],
    [
      'an error of nobody',
      answers('application/json', '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}', 400),
      'refused',
      /^HTTP 400/,
    ],
    [
      'a redirect',
      answers('', '', 307, { location: '/elsewhere' }),
      'refused',
      /\/elsewhere, which is not followed/,
    ],
  ])('fails when the server sends %s', async (_what, { type, body, status, headers }, fault, message) => {
    const { server, transport } = await serve(({ response }) => {
      response.writeHead(status, { ...(type && { 'content-type': type }), ...headers }).end(body);
    });
    const error = await soon(
      'the failure',
      transport.sendText(ask(1), 1).catch((thrown: Error) => thrown),
    );
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ fault, message: expect.stringMatching(message) });
    expect(server.asked.all).toHaveLength(1);
  });

  it.each([400, 404, 500])('takes a JSON-RPC error in HTTP %d for the answer it is', async (status) => {
    const text = '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}';
    const { transport, messages } = await serve(({ response }) => sendJson(response, text, status));
    await transport.sendText(ask(1), 1);
    expect(messages.all[0]?.received).toEqual({ text, requestId: 1 });
  });

  it('says how long a server wants to be left alone', async () => {
    const { transport } = await serve(({ response }) =>
      response.writeHead(503, { 'retry-after': '7' }).end(),
    );
    await expect(transport.sendText(ask(1), 1)).rejects.toMatchObject({
      fault: 'refused',
      details: { httpStatus: 503, retryAfterMs: 7000 },
    });
  });

  it('uses the connection of a refused request again', async () => {
    const { server, transport } = await serve(({ response }) => sendJson(response, '{"error":"busy"}', 503));
    for (let id = 0; id < 20; id++) expect(await faultOf(transport.sendText(ask(id), id))).toBe('refused');
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  it.each(['application/json', 'text/event-stream', 'text/html'])(
    'stops reading an endless %s',
    async (type) => {
      const MiB = 1024 * 1024;
      let sent = 0;
      const { server, transport } = await serve(
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
    const { transport } = await serve(
      ({ response }) =>
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 11 }).write('{'),
      { maxMessageBytes: 10 },
    );
    expect(await faultOf(transport.sendText(ask(1), 1))).toBe('too-large');
  });

  it('gives up a body that stops flowing, but not a stream of events', async () => {
    const streams: Asked[] = [];
    const { transport } = await serve(
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
    const { server, transport } = await serve(() => {}, { acceptTimeoutMs: 60 });
    expect(await faultOf(transport.sendText(NOTE))).toBe('broken');
    await soon('the connection to be cut', (await server.asked.next()).disconnected);
  });

  it('is broken when the connection is, before or within the response', async () => {
    const { transport } = await serve(({ response, id, socket }) => {
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
    const { port } = raw.address() as { port: number };
    const transport = new StreamableHttpTransport({ url: `http://127.0.0.1:${port}` });
    releases.push(
      () => transport.close(),
      async () => void raw.close(),
    );
    expect(await faultOf(transport.sendText(ask(1), 1))).toBe('done');
  });

  it('knows a server it cannot connect to, and works when the server is back', async () => {
    const gone = await ScriptedServer.start();
    await gone.stop();
    const transport = new StreamableHttpTransport({ url: gone.url });
    releases.push(() => transport.close());
    await expect(transport.sendText(ask(1), 1)).rejects.toThrow('cannot connect: ECONNREFUSED');
    expect(await faultOf(transport.sendText(ask(2), 2))).toBe('unreachable');
    const back = await ScriptedServer.start(
      ({ response, id }) => sendJson(response, answerText(id)),
      gone.port,
    );
    releases.push(() => back.stop());
    expect(await faultOf(transport.sendText(ask(3), 3))).toBe('done');
  });

  it.each(['https://127.0.0.1:PORT/mcp', 'http://no-such-host.invalid/mcp'])(
    'cannot reach %s',
    async (address) => {
      const { server } = await serve(({ response }) => response.end());
      const transport = new StreamableHttpTransport({ url: address.replace('PORT', String(server.port)) });
      releases.push(() => transport.close());
      expect(await faultOf(transport.sendText(ask(1), 1))).toBe('unreachable');
    },
  );
});
