import { afterEach, describe, expect, it } from '@jest/globals';
import {
  callText,
  responseText,
  startEventStream,
  HttpHarness,
  sendJson,
  type IncomingRequest,
} from '../../../test/kit/http-harness.js';
import { within } from '../../../test/kit/until.js';

const harness = new HttpHarness();
afterEach(harness.release);

const NOTIFICATION = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** A response whose bytes would change if it were parsed and serialised. */
const UNUSUAL =
  '{ "jsonrpc":"2.0","id":1,"result":{"n":12345678901234567890,"f":1.0,"e":"\\u00e9","ü":"é😀","x":null}}\n';

const DEEP = '['.repeat(64) + ']'.repeat(64);

describe('PendingPost', () => {
  it('delivers a JSON response byte for byte before it settles', async () => {
    const { transport, messages } = await harness.serve(({ response }) => sendJson(response, UNUSUAL));
    await transport.sendText(callText(1), 1);
    expect(messages.all).toHaveLength(1);
    expect(messages.all[0]?.received).toEqual({ text: UNUSUAL, requestId: 1 });
    expect(messages.all[0]?.message).toEqual(JSON.parse(UNUSUAL));
  });

  it('decodes characters that are split between chunks', async () => {
    const { transport, messages } = await harness.serve(async ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      for (const byte of Buffer.from(UNUSUAL)) {
        await new Promise((written) => response.write(Buffer.from([byte]), written));
      }
      response.end();
    });
    await transport.sendText(callText(1), 1);
    expect(messages.all[0]?.received?.text).toBe(UNUSUAL);
  });

  it('delivers all messages of an event stream with the id of their request', async () => {
    const line = UNUSUAL.trim();
    const { transport, messages } = await harness.serve(({ response }) => {
      startEventStream(response);
      response.write(': hello\r\n\r\nevent: ping\r\ndata: not for us\r\n\r\n');
      response.write('data: {"jsonrpc":"2.0",\ndata: "method":"notifications/progress"}\n\n');
      response.end(`event: message\r\ndata: ${line}\r\n\r\n`);
    });
    await transport.sendText(callText(1), 1);
    expect(messages.all.map(({ received }) => received)).toEqual([
      { text: '{"jsonrpc":"2.0",\n"method":"notifications/progress"}', requestId: 1 },
      { text: line, requestId: 1 },
    ]);
  });

  it('delivers concurrent event streams with the id of their own request', async () => {
    const open: IncomingRequest[] = [];
    const { transport, messages } = await harness.serve((incoming) => {
      startEventStream(incoming.response);
      open.push(incoming);
      if (open.length < 20) return;
      for (const { response, id } of open) {
        response.write(`data: {"jsonrpc":"2.0","method":"m","params":{"of":${Number(id)}}}\n\n`);
      }
      for (const { response, id } of open.toReversed()) response.end(`data: ${responseText(id)}\n\n`);
    });
    const ids = Array.from({ length: 20 }, (_, i) => i);
    await within('all answers', Promise.all(ids.map((id) => transport.sendText(callText(id), id))));
    expect(messages.all).toHaveLength(40);
    for (const { message, received } of messages.all) {
      const { id, params } = message as { id?: number; params?: { of: number } };
      expect(received?.requestId).toBe(id ?? params?.of);
    }
  });

  it('settles with the response, and closes a stream that the server does not end', async () => {
    const { server, transport } = await harness.serve(({ response, id }) => {
      startEventStream(response);
      response.write(`data: ${responseText(id)}\n\n`);
    });
    await within('the answer', transport.sendText(callText(1), 1));
    expect(server.sockets.size).toBe(1);
    await within('the stream to be closed', (await server.requests.next()).disconnected);
  });

  it.each([202, 200, 204])('treats HTTP %d as acceptance of a notification', async (status) => {
    const { transport, messages } = await harness.serve(({ response }) => response.writeHead(status).end());
    await transport.sendText(NOTIFICATION);
    expect(messages.all).toEqual([]);
  });

  it('delivers each message of a batch', async () => {
    const { transport, messages } = await harness.serve(({ response }) =>
      sendJson(response, `[{"jsonrpc":"2.0","method":"m"},7,null,${responseText(1)}]`),
    );
    await transport.sendText(callText(1), 1);
    expect(messages.all.map(({ received }) => received)).toEqual([
      { text: '{"jsonrpc":"2.0","method":"m"}', requestId: 1 },
      { text: responseText(1), requestId: 1 },
    ]);
  });

  it.each([
    ['a JSON body', false],
    ['an event', true],
  ])('fails only the request whose response is nested too deeply: %s', async (_what, isEvent) => {
    const { transport, messages } = await harness.serve(({ response, id }) => {
      const text = id === 1 ? `{"jsonrpc":"2.0","result":${DEEP},"id":1}` : responseText(id);
      if (!isEvent) return sendJson(response, text);
      startEventStream(response);
      response.end(`data: ${text}\n\n`);
    });
    const refused: unknown[] = [];
    transport.onrefused = ({ reason }) => refused.push(reason);
    const [first, second] = [transport.sendText(callText(1), 1), transport.sendText(callText(2), 2)];
    await expect(first).rejects.toMatchObject({
      fault: 'too-large',
      message: 'the server sent a message that is nested more than 64 levels deep',
    });
    await second;
    expect(messages.all).toHaveLength(1);
    expect(refused).toEqual(['depth']);
  });

  it.each([
    [1_999_996, 'done'],
    [1_999_997, 'the server sent a message that has more than 2000000 members and elements'],
  ])('reads a response with a list of %i elements: %s', async (count, outcome) => {
    const { transport } = await harness.serve(({ response }) =>
      sendJson(response, `{"jsonrpc":"2.0","id":1,"result":{"l":[${'0,'.repeat(count - 1)}0]}}`),
    );
    const settled = transport.sendText(callText(1), 1).then(
      () => 'done',
      (error: Error) => error.message,
    );
    expect(await within('the response', settled)).toBe(outcome);
  });

  it('skips a notification that is nested too deeply', async () => {
    const { transport, messages } = await harness.serve(({ response, id }) => {
      startEventStream(response);
      response.write(`data: {"jsonrpc":"2.0","method":"m","params":${DEEP}}\n\n`);
      response.end(`data: ${responseText(id)}\n\n`);
    });
    await transport.sendText(callText(1), 1);
    expect(messages.all).toHaveLength(1);
  });

  it.each([
    ['with a length', { 'content-length': '200000' }],
    ['in chunks', {}],
  ])('reads a long body %s', async (_what, headers) => {
    const text = responseText(1, { s: 'é'.repeat(99_000), f: 1 }).padEnd(101_000);
    const { transport, messages } = await harness.serve(({ response }) =>
      sendJson(response, text, 200, headers),
    );
    await transport.sendText(callText(1), 1);
    expect(messages.all[0]?.received.text).toBe(text.trim());
  });

  it('reports a listener that throws, and keeps reading', async () => {
    const { transport, errors } = await harness.serve(({ response, id }) => {
      startEventStream(response);
      response.end(`data: {"jsonrpc":"2.0","method":"m"}\n\ndata: ${responseText(id)}\n\n`);
    });
    Object.assign(transport, {
      onmessage: () => {
        throw new Error('listener failed');
      },
    });
    await transport.sendText(callText(1), 1);
    expect(errors.all.map(({ message }) => message)).toEqual(['listener failed', 'listener failed']);
  });

  it.each([
    ['JSON bodies', { 'content-type': 'application/json' }, '', ''],
    ['event streams', { 'content-type': 'text/event-stream' }, 'data: ', '\n\n'],
  ])('reads at most eight large responses of a server at once as %s', async (_, headers, before, after) => {
    const large = 'x'.repeat(12 * 1024 * 1024);
    const flushed = new Set<number>();
    const finishers: (() => void)[] = [];
    const { transport, messages } = await harness.serve(async ({ response, id }) => {
      if (id === 100) return sendJson(response, responseText(id));
      response.writeHead(200, headers);
      const start = `${before}{"jsonrpc":"2.0","id":${Number(id)},"result":{"text":"`;
      await new Promise<void>((resolve) => response.write(start + large, () => resolve()));
      flushed.add(Number(id));
      finishers.push(() => response.end(`"}}${after}`));
      return undefined;
    });
    const calls = Array.from({ length: 10 }, (_value, id) => transport.sendText(callText(id), id));
    while (flushed.size < 8) await transport.sendText(callText(100), 100);
    for (let round = 0; round < 20; round++) await transport.sendText(callText(100), 100);
    expect(flushed.size).toBe(8);
    while (messages.all.filter(({ received }) => received.text.length > large.length).length < 10) {
      for (const finish of finishers.splice(0)) finish();
      await transport.sendText(callText(100), 100);
    }
    await within('all responses', Promise.all(calls));
  });
});
