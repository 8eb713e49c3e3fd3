import { afterEach, describe, expect, it } from '@jest/globals';
import {
  answerText,
  openEvents,
  soon,
  HttpHarness,
  sendJson,
  type Asked,
} from '../../../test/kit/http-harness.js';

const harness = new HttpHarness();
afterEach(harness.release);

const ask = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"tools/call"}`;
const NOTE = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** What an answer may look like that a careless relay would change. */
const PECULIAR =
  '{ "jsonrpc":"2.0","id":1,"result":{"n":12345678901234567890,"f":1.0,"e":"\\u00e9","ü":"é😀","x":null}}\n';

describe('an exchange', () => {
  it('hands over a JSON answer byte for byte, before it is settled', async () => {
    const { transport, messages } = await harness.serve(({ response }) => sendJson(response, PECULIAR));
    await transport.sendText(ask(1), 1);
    expect(messages.all).toHaveLength(1);
    expect(messages.all[0]?.received).toEqual({ text: PECULIAR, requestId: 1 });
    expect(messages.all[0]?.message).toEqual(JSON.parse(PECULIAR));
  });

  it('puts characters together that came in different chunks', async () => {
    const { transport, messages } = await harness.serve(async ({ response }) => {
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
    const { transport, messages } = await harness.serve(({ response }) => {
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
    const { transport, messages } = await harness.serve((asked) => {
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
    const { server, transport } = await harness.serve(({ response, id }) => {
      openEvents(response);
      response.write(`data: ${answerText(id)}\n\n`);
    });
    await soon('the answer', transport.sendText(ask(1), 1));
    expect(server.sockets.size).toBe(1);
    await soon('the stream to be cut', (await server.asked.next()).disconnected);
  });

  it.each([202, 200, 204])('takes HTTP %d for a notification', async (status) => {
    const { transport, messages } = await harness.serve(({ response }) => response.writeHead(status).end());
    await transport.sendText(NOTE);
    expect(messages.all).toEqual([]);
  });

  it('hands over each message of a batch', async () => {
    const { transport, messages } = await harness.serve(({ response }) =>
      sendJson(response, `[{"jsonrpc":"2.0","method":"m"},7,null,${answerText(1)}]`),
    );
    await transport.sendText(ask(1), 1);
    expect(messages.all.map(({ received }) => received)).toEqual([
      { text: '{"jsonrpc":"2.0","method":"m"}', requestId: 1 },
      { text: answerText(1), requestId: 1 },
    ]);
  });

  it('tells of a handler that throws, and goes on', async () => {
    const { transport, errors } = await harness.serve(({ response, id }) => {
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
});
