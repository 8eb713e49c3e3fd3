import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  callText,
  faultOf,
  HttpHarness,
  observe,
  responseText,
  ScriptedHttpServer,
  startEventStream,
  type IncomingRequest,
  type RequestScript,
} from '../../../test/kit/http-harness.js';
import { within } from '../../../test/kit/until.js';
import { freePort, writeEndlessly } from '../../../test/kit/http.js';
import { refusalOf } from '../../../test/kit/promises.js';
import { TransportError } from '../link/transport.js';
import { SseTransport, type SseOptions } from './sse-transport.js';

const CREDENTIALS = 'Bearer of-the-config';
const LIMIT = 100_000;
/** What the kernel and the HTTP client may read before the limit takes effect. */
const BUFFERED_BYTES = 16_000_000;

const harness = new HttpHarness();
afterEach(harness.release);

function transportTo(url: string, options: SseOptions = {}): SseTransport {
  const transport = new SseTransport({ url, headers: { authorization: CREDENTIALS } }, options);
  harness.onRelease(() => transport.close());
  return transport;
}

/** Opens the stream; POSTs are handled by `onPost`, with the stream. */
const sseServer =
  (onPost: (request: IncomingRequest, stream: ServerResponse) => unknown, endpoint = '/message?s=1') =>
  (): RequestScript => {
    let stream: ServerResponse;
    return (request) => {
      if (request.method === 'POST') return onPost(request, stream);
      stream = request.response;
      startEventStream(stream);
      return stream.write(`event: endpoint\ndata: ${endpoint}\n\n`);
    };
  };

async function serve(script: RequestScript, options: SseOptions = {}) {
  const server = await ScriptedHttpServer.start(script);
  harness.onRelease(() => server.stop());
  const transport = transportTo(server.url, options);
  return { server, transport, ...observe(transport) };
}

const accept = ({ response }: IncomingRequest): unknown => response.writeHead(202).end('Accepted');
const sendEvent = (stream: ServerResponse, text: string): unknown => stream.write(`data: ${text}\n\n`);

describe('SseTransport', () => {
  it('posts messages to the endpoint and delivers the responses of the stream byte for byte', async () => {
    const { server, transport, messages } = await serve(
      sseServer((request, stream) => {
        accept(request);
        sendEvent(stream, `{ "jsonrpc":"2.0", "id":${Number(request.id)}, "result":{"n":1.0} }`);
      })(),
    );
    await transport.start();
    transport.setProtocolVersion('2024-11-05');
    await transport.sendText(callText(1), 1);
    expect((await messages.next()).received).toEqual({
      text: '{ "jsonrpc":"2.0", "id":1, "result":{"n":1.0} }',
    });
    expect(server.requests.all).toMatchObject([
      { method: 'GET', url: '/mcp', headers: { accept: 'text/event-stream', authorization: CREDENTIALS } },
      { method: 'POST', url: '/message?s=1', text: callText(1), headers: { authorization: CREDENTIALS } },
    ]);
    expect(server.requests.all[1]!.headers['mcp-protocol-version']).toBe('2024-11-05');
  });

  it('ignores messages before the endpoint, and a second endpoint', async () => {
    const { server, transport, messages } = await serve(({ method, response }) => {
      if (method === 'POST') return response.writeHead(202).end();
      startEventStream(response);
      sendEvent(response, responseText('early'));
      response.write('event: endpoint\ndata: /first\n\nevent: endpoint\ndata: /second\n\n');
      return sendEvent(response, responseText('late'));
    });
    await transport.start();
    expect((await messages.next()).message).toMatchObject({ id: 'late' });
    await transport.sendText(callText(1), 1);
    expect(server.requests.all[1]!.url).toBe('/first');
  });

  it.each(['http://other.test/message', '//other.test/message', 'http://[', `/${'x'.repeat(8192)}`])(
    'refuses the endpoint %.40s and closes the stream',
    async (endpoint) => {
      const { server, transport, closes } = await serve(sseServer(accept, endpoint)());
      expect(await faultOf(transport.start())).toBe('refused');
      await closes.next();
      await within('the server to see the end', server.requests.all[0]!.disconnected);
      expect(server.requests.all).toHaveLength(1);
    },
  );

  it('reports why a server cannot be reached, without its address', async () => {
    const port = await freePort();
    const error = await refusalOf(transportTo(`http://127.0.0.1:${port}/sse?key=secret`).start());
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ fault: 'unreachable', message: 'cannot connect: ECONNREFUSED' });
  });

  it('fails to start when the server sends no endpoint in time', async () => {
    const { transport } = await serve(({ response }) => startEventStream(response), {
      endpointTimeoutMs: 20,
    });
    expect((await refusalOf(transport.start())).message).toBe(
      'the server sent no endpoint event within 20 ms',
    );
  });

  it('fails to start when it is closed meanwhile', async () => {
    const { server, transport } = await serve(({ response }) => startEventStream(response));
    const started = faultOf(transport.start());
    await server.requests.next();
    await transport.close();
    expect(await started).toBe('broken');
  });

  it('closes with the reason when the stream ends', async () => {
    const { server, transport, errors, closes } = await serve(sseServer(accept)());
    await transport.start();
    server.requests.all[0]!.response.end();
    expect(await errors.next()).toMatchObject({ fault: 'broken', message: 'the server ended the stream' });
    await closes.next();
    expect(await faultOf(transport.sendText(callText(1), 1))).toBe('broken');
  });

  it.each([
    [404, { fault: 'session-expired' }],
    [401, { fault: 'refused', message: 'HTTP 401 Unauthorized' }],
  ])('rejects a message that gets HTTP %d, without the body of the response', async (status, expected) => {
    const { transport } = await serve(
      sseServer(({ response, headers }) => response.writeHead(status).end(headers.authorization))(),
    );
    await transport.start();
    const error = await refusalOf(transport.sendText(callText(1), 1));
    expect(error).toMatchObject(expected);
    expect(error.message).not.toContain(CREDENTIALS);
  });

  it('gives a notification the accept timeout, and a request the time of its caller', async () => {
    const { server, transport } = await serve(sseServer(() => {})(), { acceptTimeoutMs: 20 });
    await transport.start();
    const request = faultOf(transport.sendText(callText(1), 1));
    expect(await faultOf(transport.sendText('{"jsonrpc":"2.0","method":"m"}'))).toBe('broken');
    transport.abandon(1);
    expect(await request).toBe('done');
    await within('the connection to close', server.requests.all[1]!.disconnected);
  });
});

describe('SseTransport, a hostile server', () => {
  it.each(['data: ', 'event: ', ':'])(
    'is disconnected within the limit when a line %j does not end',
    async (line) => {
      const { server, transport, errors, closes } = await serve(sseServer(accept)(), {
        maxMessageBytes: LIMIT,
      });
      await transport.start();
      const { response } = server.requests.all[0]!;
      response.write(line);
      const written = writeEndlessly(response);
      expect(await errors.next()).toMatchObject({ fault: 'too-large' });
      await closes.next();
      expect(await written).toBeLessThan(BUFFERED_BYTES);
    },
  );

  it('is disconnected when the body of an HTTP error does not end, on the stream and on a message', async () => {
    const written: Promise<number>[] = [];
    const endless = ({ response }: IncomingRequest): unknown => {
      response.writeHead(500, { 'content-type': 'application/json' });
      return written.push(writeEndlessly(response));
    };
    const refused = await serve(endless);
    expect(await faultOf(refused.transport.start())).toBe('refused');
    const { transport } = await serve(sseServer(endless)());
    await transport.start();
    expect(await faultOf(transport.sendText(callText(1), 1))).toBe('refused');
    expect(await faultOf(transport.sendText('{"jsonrpc":"2.0","method":"m"}'))).toBe('refused');
    expect(Math.max(...(await Promise.all(written)))).toBeLessThan(BUFFERED_BYTES);
  });

  it('does not break the stream with events that are not messages', async () => {
    const { server, transport, messages, errors } = await serve(sseServer(accept)());
    await transport.start();
    const { response } = server.requests.all[0]!;
    response.write('event: other\ndata: x\n\nid\n\n: comment\nretry: x\n\ufffd\0\n\n');
    for (const text of ['{', 'null', '[]', '"text"', '{}', '[1,{}]']) sendEvent(response, text);
    sendEvent(response, responseText(7));
    expect((await messages.next()).message).toMatchObject({ id: 7 });
    expect(await errors.next()).toMatchObject({ message: 'message ignored: the server sent invalid JSON' });
  });
});
