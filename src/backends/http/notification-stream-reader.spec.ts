import { afterEach, describe, expect, it } from '@jest/globals';
import {
  responseText,
  startEventStream,
  sendJson,
  HttpHarness,
  type IncomingRequest,
} from '../../../test/kit/http-harness.js';
import { within } from '../../../test/kit/until.js';
import type { StreamableHttpOptions, StreamableHttpTransport } from './streamable-http-transport.js';

const harness = new HttpHarness();
afterEach(harness.release);

const NOTIFICATION = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';

/** `stream` responds to the n-th GET; every POST is answered in the session `s1`. */
async function serve(
  stream: (incoming: IncomingRequest, n: number) => void,
  options: StreamableHttpOptions = {},
) {
  const gets: IncomingRequest[] = [];
  const served = await harness.serve((incoming) => {
    if (incoming.method === 'GET') return stream(incoming, gets.push(incoming));
    sendJson(incoming.response, responseText(incoming.id), 200, { 'mcp-session-id': 's1' });
  }, options);
  return { ...served, gets };
}

const initialize = (transport: StreamableHttpTransport): Promise<void> =>
  transport.sendText('{"jsonrpc":"2.0","id":0,"method":"initialize"}', 0);

describe('NotificationStreamReader', () => {
  it('delivers notifications without a request id', async () => {
    const { transport, messages, states, gets } = await serve(({ response }) => {
      startEventStream(response);
      response.write(`: hello\n\ndata: ${NOTIFICATION}\n\n`);
    });
    await initialize(transport);
    transport.setProtocolVersion('2025-11-25');
    transport.openNotificationStream();
    transport.openNotificationStream();
    await messages.next();
    expect((await messages.next()).received).toEqual({ text: NOTIFICATION });
    expect(states.all).toEqual(['open']);
    expect(gets).toHaveLength(1);
    expect(gets[0]?.headers).toMatchObject({
      accept: 'text/event-stream',
      'mcp-session-id': 's1',
      'mcp-protocol-version': '2025-11-25',
    });
  });

  it('resumes from the last event when the server sends retry, also after a failed attempt', async () => {
    const { transport, messages, states, errors, gets } = await serve(({ response, socket }, n) => {
      if (n === 2) return response.writeHead(503).end();
      startEventStream(response);
      return response.write(
        `id: ${n}\nretry: 1\ndata: ${NOTIFICATION}\n\n`,
        () => n === 1 && socket.destroy(),
      );
    });
    await initialize(transport);
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await messages.next();
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1', '1']);
    expect(states.all).toEqual(['open', 'lost', 'resumed']);
    expect(errors.all).toMatchObject([{ fault: 'refused' }]);
  });

  it.each([
    ['sends no event ids', ''],
    ['sends event ids without retry', 'id: 1\n'],
  ])('opens a new stream after a loss when the server %s', async (_what, id) => {
    const { transport, states, gets } = await serve(({ response, socket }, n) => {
      startEventStream(response);
      response.write(`${id}data: ${NOTIFICATION}\n\n`, () => n === 1 && socket.destroy());
    });
    await initialize(transport);
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await states.next();
    expect(states.all).toEqual(['open', 'lost', 'open']);
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, undefined]);
  });

  it('reports open instead of resumed when the server has no session', async () => {
    const { transport, states } = await serve(({ response, socket }, n) => {
      if (n === 2) return response.writeHead(503).end();
      startEventStream(response);
      return response.write(`id: 1\nretry: 1\ndata: ${NOTIFICATION}\n\n`, () => n === 1 && socket.destroy());
    });
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await states.next();
    expect(states.all).toEqual(['open', 'lost', 'open']);
  });

  it('reports the loss again after an attempt without response, and its error once', async () => {
    const { transport, states, errors } = await serve(({ response, socket }, n) => {
      if (n > 1) return socket.destroy();
      startEventStream(response);
      return response.write(': hello\n\n', () => socket.destroy());
    });
    await initialize(transport);
    transport.openNotificationStream();
    expect([await states.next(), await states.next(), await states.next()]).toEqual(['open', 'lost', 'lost']);
    expect(errors.all).toHaveLength(1);
  });

  it('drops the last event id when the server refuses it with HTTP 400', async () => {
    const { transport, states, gets } = await serve(({ response, socket, headers }, n) => {
      if (headers['last-event-id']) return response.writeHead(400).end();
      startEventStream(response);
      return response.write(`id: 7\nretry: 1\ndata: ${NOTIFICATION}\n\n`, () => n === 1 && socket.destroy());
    });
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await states.next();
    expect(states.all).toEqual(['open', 'lost', 'open']);
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '7', undefined]);
  });

  it('reconnects without reporting a loss when the server ends the stream and sends retry', async () => {
    const { transport, messages, states, errors, gets } = await serve(({ response }, n) => {
      startEventStream(response);
      response.end(`id: ${n}\nretry: 1\ndata: ${NOTIFICATION}\n\n`);
    });
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await messages.next();
    expect(gets.length).toBeGreaterThanOrEqual(3);
    expect(states.all).toEqual(['open']);
    expect(errors.all).toEqual([]);
  });

  it('reports at every opening since when messages may have been sent', async () => {
    const arrivals: number[] = [];
    const { transport, messages, states, gets } = await serve(({ response }, n) => {
      arrivals.push(performance.now());
      startEventStream(response);
      // The second stream ends without data.
      if (n > 1) response.end(n === 2 ? '' : event);
    });
    const event = `id: 1\nretry: 1\ndata: ${NOTIFICATION}\n\n`;
    const since: number[] = [];
    transport.inbound = {
      isOverRate: false,
      admits: () => true,
      chargeMalformed: () => {},
      pauseAfter: () => 0,
      expectMessagesSince: (time) => since.push(time),
    };
    const startedAt = performance.now();
    transport.openNotificationStream();
    await states.next();
    const sentAt = performance.now();
    gets[0]!.response.end(event);
    for (let n = 0; n < 2; n++) await messages.next();
    expect(since[0]).toBeLessThanOrEqual(startedAt);
    for (const [n, earliest] of [sentAt, arrivals[1]!].entries()) {
      expect(since[n + 1]).toBeGreaterThanOrEqual(earliest);
      expect(since[n + 1]).toBeLessThanOrEqual(arrivals[n + 1]!);
    }
  });

  it('retries while the server refuses the stream, and reports the loss once', async () => {
    const { transport, states, errors } = await serve(({ response }, n) => {
      if (n < 3) response.writeHead(n === 1 ? 503 : 409).end();
      else startEventStream(response);
    });
    transport.openNotificationStream();
    expect([await states.next(), await states.next()]).toEqual(['lost', 'open']);
    expect(errors.all).toMatchObject([{ fault: 'refused', details: { httpStatus: 503 } }]);
  });

  it.each([
    ['405', (incoming: IncomingRequest) => incoming.response.writeHead(405).end()],
    ['501', (incoming: IncomingRequest) => incoming.response.writeHead(501).end()],
    ['404 without a session', (incoming: IncomingRequest) => incoming.response.writeHead(404).end()],
    [
      'a web page',
      (incoming: IncomingRequest) =>
        incoming.response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    ],
  ])('does not request the stream again after %s', async (_what, stream) => {
    const { transport, states, errors, gets } = await serve(stream);
    transport.openNotificationStream();
    expect(await states.next()).toBe('none');
    transport.openNotificationStream();
    await initialize(transport);
    expect(gets).toHaveLength(1);
    expect(errors.all).toEqual([]);
  });

  it('closes the transport when the server answers 404 within a session', async () => {
    const { server, transport, errors, closes } = await serve(({ response }) =>
      response.writeHead(404).end(),
    );
    await initialize(transport);
    transport.openNotificationStream();
    await closes.next();
    expect(errors.all).toMatchObject([{ fault: 'session-expired' }]);
    expect(server.requests.all.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it('reports invalid JSON, skips an object that is not a message, and keeps reading', async () => {
    const { transport, messages, errors } = await serve(({ response }) => {
      startEventStream(response);
      response.write(`data: oops\n\ndata: {}\n\ndata: ${NOTIFICATION}\n\n`);
    });
    transport.openNotificationStream();
    await messages.next();
    expect(errors.all.map(({ message }) => message)).toEqual([
      'message ignored: the server sent invalid JSON',
    ]);
    expect(messages.all).toHaveLength(1);
  });

  it('opens a new stream without Last-Event-ID after an event over the size limit', async () => {
    const { transport, messages, errors, gets } = await serve(
      ({ response }, n) => {
        startEventStream(response);
        response.write(n === 1 ? `id: 1\ndata:\n\ndata: ${'x'.repeat(2000)}` : `data: ${NOTIFICATION}\n\n`);
      },
      { maxMessageBytes: 1000 },
    );
    transport.openNotificationStream();
    await messages.next();
    expect(errors.all).toMatchObject([{ fault: 'too-large' }]);
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, undefined]);
  });

  it('reopens a silent stream that can be resumed', async () => {
    const { transport, messages, states, errors, gets } = await serve(
      ({ response }, n) => {
        startEventStream(response);
        response.write(`id: ${n}\nretry: 1\ndata: ${NOTIFICATION}\n\n`);
      },
      { streamIdleMs: 80 },
    );
    await initialize(transport);
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await messages.next();
    await within('the silent stream to be closed', gets[0]?.disconnected ?? Promise.resolve());
    expect(gets[1]?.headers['last-event-id']).toBe('1');
    expect([states.all, errors.all]).toEqual([['open'], []]);
  });

  it('reports a silent stream that cannot be resumed, and reopens it on request', async () => {
    const { transport, states, errors, gets } = await serve(({ response }) => startEventStream(response), {
      streamIdleMs: 80,
    });
    await initialize(transport);
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await states.next();
    expect(states.all).toEqual(['open', 'silent', 'silent']);
    expect([gets.length, errors.all]).toEqual([1, []]);
    transport.reopenNotificationStream();
    await within('the dead stream to be closed', gets[0]?.disconnected ?? Promise.resolve());
    while ((await states.next()) !== 'lost');
    expect(await states.next()).toBe('open');
  });

  it('treats a comment as activity', async () => {
    const { transport, states, gets } = await serve(
      ({ response }, n) => {
        startEventStream(response);
        const keepAlive = setInterval(() => response.write(': keep-alive\n\n'), 20);
        response.once('close', () => clearInterval(keepAlive));
        if (n === 1) setTimeout(() => response.end(), 900);
      },
      { streamIdleMs: 600 },
    );
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await states.next();
    expect(states.all).toEqual(['open', 'lost', 'open']);
    expect(gets).toHaveLength(2);
  });

  it('stops reconnecting when the transport closes', async () => {
    const { server, transport, errors, gets } = await serve(({ response }) => response.destroy());
    transport.openNotificationStream();
    await errors.next();
    await transport.close();
    await transport.close();
    expect(gets).toHaveLength(1);
    expect(server.sockets.size).toBe(0);
  });
});
