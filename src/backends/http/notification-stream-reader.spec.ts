import { afterEach, describe, expect, it } from '@jest/globals';
import {
  answerText,
  openEvents,
  sendJson,
  soon,
  HttpHarness,
  type Asked,
} from '../../../test/kit/http-harness.js';
import type { StreamableHttpOptions, StreamableHttpTransport } from './streamable-http-transport.js';

const harness = new HttpHarness();
afterEach(harness.release);

const NOTE = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';

/** `stream` is what the server does with the n-th GET; every POST is answered within the session `s1`. */
async function serve(stream: (asked: Asked, n: number) => void, options: StreamableHttpOptions = {}) {
  const gets: Asked[] = [];
  const served = await harness.serve((asked) => {
    if (asked.method === 'GET') return stream(asked, gets.push(asked));
    sendJson(asked.response, answerText(asked.id), 200, { 'mcp-session-id': 's1' });
  }, options);
  return { ...served, gets };
}

const shakeHands = (transport: StreamableHttpTransport): Promise<void> =>
  transport.sendText('{"jsonrpc":"2.0","id":0,"method":"initialize"}', 0);

describe('the standing stream', () => {
  it('brings what the server says unasked, without a request it belongs to', async () => {
    const { transport, messages, states, gets } = await serve(({ response }) => {
      openEvents(response);
      response.write(`: hello\n\ndata: ${NOTE}\n\n`);
    });
    await shakeHands(transport);
    transport.setProtocolVersion('2025-11-25');
    transport.openNotificationStream();
    transport.openNotificationStream();
    await messages.next();
    expect((await messages.next()).received).toEqual({ text: NOTE });
    expect(states.all).toEqual(['open']);
    expect(gets).toHaveLength(1);
    expect(gets[0]?.headers).toMatchObject({
      accept: 'text/event-stream',
      'mcp-session-id': 's1',
      'mcp-protocol-version': '2025-11-25',
    });
  });

  it('comes back from its last event where the server has said when, also after a while', async () => {
    const { transport, messages, states, errors, gets } = await serve(({ response, socket }, n) => {
      if (n === 2) return response.writeHead(503).end();
      openEvents(response);
      return response.write(`id: ${n}\nretry: 1\ndata: ${NOTE}\n\n`, () => n === 1 && socket.destroy());
    });
    await shakeHands(transport);
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await messages.next();
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1', '1']);
    expect(states.all).toEqual(['open', 'lost', 'resumed']);
    expect(errors.all).toMatchObject([{ fault: 'refused' }]);
  });

  it.each([
    ['numbers no events', ''],
    ['numbers them, but does not say that it has them ready for who comes back', 'id: 1\n'],
  ])('begins anew where the server %s', async (_what, id) => {
    const { transport, states, gets } = await serve(({ response, socket }, n) => {
      openEvents(response);
      response.write(`${id}data: ${NOTE}\n\n`, () => n === 1 && socket.destroy());
    });
    await shakeHands(transport);
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await states.next();
    expect(states.all).toEqual(['open', 'lost', 'open']);
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, undefined]);
  });

  it('begins anew where the server keeps no session, and so may be another by now', async () => {
    const { transport, states } = await serve(({ response, socket }, n) => {
      if (n === 2) return response.writeHead(503).end();
      openEvents(response);
      return response.write(`id: 1\nretry: 1\ndata: ${NOTE}\n\n`, () => n === 1 && socket.destroy());
    });
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await states.next();
    expect(states.all).toEqual(['open', 'lost', 'open']);
  });

  it('does not insist on a number that means nothing to the server any more', async () => {
    const { transport, states, gets } = await serve(({ response, socket, headers }, n) => {
      if (headers['last-event-id']) return response.writeHead(400).end();
      openEvents(response);
      return response.write(`id: 7\nretry: 1\ndata: ${NOTE}\n\n`, () => n === 1 && socket.destroy());
    });
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await states.next();
    expect(states.all).toEqual(['open', 'lost', 'open']);
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '7', undefined]);
  });

  it('follows a server that ends it and says when to come back, without alarm', async () => {
    const { transport, messages, states, errors, gets } = await serve(({ response }, n) => {
      openEvents(response);
      response.end(`id: ${n}\nretry: 1\ndata: ${NOTE}\n\n`);
    });
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await messages.next();
    expect(gets.length).toBeGreaterThanOrEqual(3);
    expect(states.all).toEqual(['open']);
    expect(errors.all).toEqual([]);
  });

  it('is tried again while the server refuses it, and tells so once', async () => {
    const { transport, states, errors } = await serve(({ response }, n) => {
      if (n < 3) response.writeHead(n === 1 ? 503 : 409).end();
      else openEvents(response);
    });
    transport.openNotificationStream();
    expect([await states.next(), await states.next()]).toEqual(['lost', 'open']);
    expect(errors.all).toMatchObject([{ fault: 'refused', details: { httpStatus: 503 } }]);
  });

  it.each([
    ['405', (asked: Asked) => asked.response.writeHead(405).end()],
    ['501', (asked: Asked) => asked.response.writeHead(501).end()],
    ['404 without a session', (asked: Asked) => asked.response.writeHead(404).end()],
    [
      'a web page',
      (asked: Asked) => asked.response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    ],
  ])('is not asked for again after %s', async (_what, stream) => {
    const { transport, states, errors, gets } = await serve(stream);
    transport.openNotificationStream();
    expect(await states.next()).toBe('none');
    transport.openNotificationStream();
    await shakeHands(transport);
    expect(gets).toHaveLength(1);
    expect(errors.all).toEqual([]);
  });

  it('closes the transport when the server has lost the session', async () => {
    const { server, transport, errors, closes } = await serve(({ response }) =>
      response.writeHead(404).end(),
    );
    await shakeHands(transport);
    transport.openNotificationStream();
    await closes.next();
    expect(errors.all).toMatchObject([{ fault: 'session-lost' }]);
    expect(server.asked.all.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it('survives a message that is none, and a handler that throws', async () => {
    const { transport, messages, errors } = await serve(({ response }) => {
      openEvents(response);
      response.write(`data: oops\n\ndata: {}\n\ndata: ${NOTE}\n\n`);
    });
    transport.openNotificationStream();
    await messages.next();
    expect(errors.all).toMatchObject([{ fault: 'broken' }]);
    expect(messages.all).toHaveLength(1);
  });

  it('starts anew after an event that was too large', async () => {
    const { transport, messages, errors, gets } = await serve(
      ({ response }, n) => {
        openEvents(response);
        response.write(n === 1 ? `id: 1\ndata:\n\ndata: ${'x'.repeat(2000)}` : `data: ${NOTE}\n\n`);
      },
      { maxMessageBytes: 1000 },
    );
    transport.openNotificationStream();
    await messages.next();
    expect(errors.all).toMatchObject([{ fault: 'too-large' }]);
    expect(gets.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, undefined]);
  });

  it('is asked for again after a long silence, where nothing is lost by that', async () => {
    const { transport, messages, states, errors, gets } = await serve(
      ({ response }, n) => {
        openEvents(response);
        response.write(`id: ${n}\nretry: 1\ndata: ${NOTE}\n\n`);
      },
      { streamIdleMs: 80 },
    );
    await shakeHands(transport);
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await messages.next();
    await soon('the silent one to be cut', gets[0]?.disconnected ?? Promise.resolve());
    expect(gets[1]?.headers['last-event-id']).toBe('1');
    expect([states.all, errors.all]).toEqual([['open'], []]);
  });

  it('is left alone when it is silent and numbers nothing, and somebody may find out whether it is there', async () => {
    const { transport, states, errors, gets } = await serve(({ response }) => openEvents(response), {
      streamIdleMs: 80,
    });
    await shakeHands(transport);
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await states.next();
    expect(states.all).toEqual(['open', 'silent', 'silent']);
    expect([gets.length, errors.all]).toEqual([1, []]);
    transport.reopenNotificationStream();
    await soon('the dead one to be cut', gets[0]?.disconnected ?? Promise.resolve());
    while ((await states.next()) !== 'lost');
    expect(await states.next()).toBe('open');
  });

  it('hears a comment as well as anything else', async () => {
    const { transport, states, gets } = await serve(
      ({ response }, n) => {
        openEvents(response);
        const beats = setInterval(() => response.write(': beat\n\n'), 20);
        response.once('close', () => clearInterval(beats));
        if (n === 1) setTimeout(() => response.end(), 400);
      },
      { streamIdleMs: 200 },
    );
    transport.openNotificationStream();
    for (let n = 0; n < 3; n++) await states.next();
    expect(states.all).toEqual(['open', 'lost', 'open']);
    expect(gets).toHaveLength(2);
  });

  it('ends with the transport, also between two tries', async () => {
    const { server, transport, errors, gets } = await serve(({ response }) => response.destroy());
    transport.openNotificationStream();
    await errors.next();
    await transport.close();
    await transport.close();
    expect(gets).toHaveLength(1);
    expect(server.sockets.size).toBe(0);
  });
});
