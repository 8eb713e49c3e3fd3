import { afterEach, describe, expect, it } from '@jest/globals';
import {
  answerText,
  faultOf,
  openEvents,
  soon,
  HttpHarness,
  type Asked,
} from '../../../test/kit/http-harness.js';

const harness = new HttpHarness();
afterEach(harness.release);

const ASK = '{"jsonrpc":"2.0","id":1,"method":"tools/call"}';
const NOTE = '{"jsonrpc":"2.0","method":"notifications/progress"}';

/** A server whose answer to the POST breaks off; `resume` is what it does with the n-th GET. */
async function serve(beginning: string, resume: (asked: Asked, n: number) => void, cut = false) {
  let gets = 0;
  const served = await harness.serve((asked) => {
    if (asked.method === 'GET') return resume(asked, ++gets);
    openEvents(asked.response);
    if (cut) asked.response.write(beginning, () => asked.socket.destroy());
    else asked.response.end(beginning);
  });
  const resumedFrom = (): unknown[] =>
    served.server.asked.all
      .filter(({ method }) => method === 'GET')
      .map(({ headers }) => headers['last-event-id']);
  return { ...served, resumedFrom };
}

describe('a response that breaks off', () => {
  it.each([false, true])('is resumed from its last event (cut off: %j)', async (cut) => {
    const { transport, messages, resumedFrom } = await serve(
      `id: e0\nretry: 1\ndata:\n\nid: e1\ndata: ${NOTE}\n\nid: e2\ndata: {"half"`,
      ({ response }) => {
        openEvents(response);
        response.end(`id: e2\ndata: ${NOTE}\n\nid: e3\ndata: ${answerText(1)}\n\n`);
      },
      cut,
    );
    await soon('the answer', transport.sendText(ASK, 1));
    expect(resumedFrom()).toEqual(['e1']);
    expect(messages.all.map(({ received }) => received)).toEqual([
      { text: NOTE, requestId: 1 },
      { text: NOTE, requestId: 1 },
      { text: answerText(1), requestId: 1 },
    ]);
  });

  it('is resumed as often as it moves on', async () => {
    const { transport, resumedFrom } = await serve('id: 0\nretry: 1\ndata:\n\n', ({ response }, n) => {
      openEvents(response);
      response.end(n < 6 ? `id: ${n}\ndata: ${NOTE}\n\n` : `data: ${answerText(1)}\n\n`);
    });
    await soon('the answer', transport.sendText(ASK, 1));
    expect(resumedFrom()).toEqual(['0', '1', '2', '3', '4', '5']);
  });

  it('waits as long as the server asked', async () => {
    const { transport } = await serve('id: 0\nretry: 200\ndata:\n\n', ({ response }) => {
      openEvents(response);
      response.end(`data: ${answerText(1)}\n\n`);
    });
    const began = performance.now();
    await transport.sendText(ASK, 1);
    expect(performance.now() - began).toBeGreaterThanOrEqual(195);
  });

  it('is broken after three tries that brought nothing', async () => {
    const { transport, resumedFrom } = await serve('id: 0\nretry: 1\ndata:\n\n', ({ response }, n) => {
      if (n === 1) response.writeHead(503).end();
      else if (n === 2) response.destroy();
      else {
        openEvents(response);
        response.end(': nothing\n\n');
      }
    });
    expect(await faultOf(transport.sendText(ASK, 1))).toBe('broken');
    expect(resumedFrom()).toHaveLength(3);
  });

  it.each([400, 404, 405])('is broken at once when resuming is refused with HTTP %d', async (status) => {
    const { transport, resumedFrom } = await serve('id: 0\nretry: 1\ndata:\n\n', ({ response }) =>
      response.writeHead(status).end(),
    );
    await expect(transport.sendText(ASK, 1)).rejects.toMatchObject({
      fault: 'broken',
      message: expect.stringContaining(`HTTP ${status}`),
    });
    expect(resumedFrom()).toHaveLength(1);
  });

  it('is not resumed where the server numbers nothing', async () => {
    const { server, transport } = await serve(`retry: 1\ndata: ${NOTE}\n\n`, () => {});
    expect(await faultOf(transport.sendText(ASK, 1))).toBe('broken');
    expect(server.asked.all).toHaveLength(1);
  });

  it('is let go of when nobody waits any more', async () => {
    const { server, transport } = await serve('id: 0\nretry: 1\ndata:\n\n', ({ response }) =>
      openEvents(response),
    );
    const sent = transport.sendText(ASK, 1);
    await server.asked.next();
    const resumed = await server.asked.next();
    transport.abandon(1);
    await soon('the stream to be cut', resumed.disconnected);
    expect(await faultOf(sent)).toBe('done');
  });
});
