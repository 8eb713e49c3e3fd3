import { afterEach, describe, expect, it } from '@jest/globals';
import {
  responseText,
  faultOf,
  startEventStream,
  HttpHarness,
  type IncomingRequest,
} from '../../../test/kit/http-harness.js';
import { within } from '../../../test/kit/until.js';

const harness = new HttpHarness();
afterEach(harness.release);

const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call"}';
const NOTIFICATION = '{"jsonrpc":"2.0","method":"notifications/progress"}';

/** A server that interrupts its response to the POST after `beginning`; `resume` responds to the n-th GET. */
async function serve(
  beginning: string,
  resume: (incoming: IncomingRequest, n: number) => void,
  { losesConnection = false } = {},
) {
  let gets = 0;
  const served = await harness.serve((incoming) => {
    if (incoming.method === 'GET') return resume(incoming, ++gets);
    startEventStream(incoming.response);
    if (losesConnection) incoming.response.write(beginning, () => incoming.socket.destroy());
    else incoming.response.end(beginning);
  });
  const resumedFrom = (): unknown[] =>
    served.server.requests.all
      .filter(({ method }) => method === 'GET')
      .map(({ headers }) => headers['last-event-id']);
  return { ...served, resumedFrom };
}

describe('SseResponse of an interrupted stream', () => {
  it.each([false, true])('resumes from the last event (connection lost: %j)', async (losesConnection) => {
    const { transport, messages, resumedFrom } = await serve(
      `id: e0\nretry: 1\ndata:\n\nid: e1\ndata: ${NOTIFICATION}\n\nid: e2\ndata: {"half"`,
      ({ response }) => {
        startEventStream(response);
        response.end(`id: e2\ndata: ${NOTIFICATION}\n\nid: e3\ndata: ${responseText(1)}\n\n`);
      },
      { losesConnection },
    );
    await within('the answer', transport.sendText(CALL, 1));
    expect(resumedFrom()).toEqual(['e1']);
    expect(messages.all.map(({ received }) => received)).toEqual([
      { text: NOTIFICATION, requestId: 1 },
      { text: NOTIFICATION, requestId: 1 },
      { text: responseText(1), requestId: 1 },
    ]);
  });

  it('resumes again as long as new events arrive', async () => {
    const { transport, resumedFrom } = await serve('id: 0\nretry: 1\ndata:\n\n', ({ response }, n) => {
      startEventStream(response);
      response.end(n < 6 ? `id: ${n}\ndata: ${NOTIFICATION}\n\n` : `data: ${responseText(1)}\n\n`);
    });
    await within('the answer', transport.sendText(CALL, 1));
    expect(resumedFrom()).toEqual(['0', '1', '2', '3', '4', '5']);
  });

  it('waits for the retry delay of the server', async () => {
    const { transport } = await serve('id: 0\nretry: 200\ndata:\n\n', ({ response }) => {
      startEventStream(response);
      response.end(`data: ${responseText(1)}\n\n`);
    });
    const startedAt = performance.now();
    await transport.sendText(CALL, 1);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(195);
  });

  it('fails after three attempts without an event', async () => {
    const { transport, resumedFrom } = await serve('id: 0\nretry: 1\ndata:\n\n', ({ response }, n) => {
      if (n === 1) response.writeHead(503).end();
      else if (n === 2) response.destroy();
      else {
        startEventStream(response);
        response.end(': nothing\n\n');
      }
    });
    expect(await faultOf(transport.sendText(CALL, 1))).toBe('broken');
    expect(resumedFrom()).toHaveLength(3);
  });

  it.each([400, 404, 405])('fails at once when the server refuses to resume with HTTP %d', async (status) => {
    const { transport, resumedFrom } = await serve('id: 0\nretry: 1\ndata:\n\n', ({ response }) =>
      response.writeHead(status).end(),
    );
    await expect(transport.sendText(CALL, 1)).rejects.toMatchObject({
      fault: 'broken',
      message: expect.stringContaining(`HTTP ${status}`),
    });
    expect(resumedFrom()).toHaveLength(1);
  });

  it('fails without event ids', async () => {
    const { server, transport } = await serve(`retry: 1\ndata: ${NOTIFICATION}\n\n`, () => {});
    expect(await faultOf(transport.sendText(CALL, 1))).toBe('broken');
    expect(server.requests.all).toHaveLength(1);
  });

  it('stops resuming when the request is abandoned', async () => {
    const { server, transport } = await serve('id: 0\nretry: 1\ndata:\n\n', ({ response }) =>
      startEventStream(response),
    );
    const sent = transport.sendText(CALL, 1);
    await server.requests.next();
    const resumed = await server.requests.next();
    transport.abandon(1);
    await within('the stream to be closed', resumed.disconnected);
    expect(await faultOf(sent)).toBe('done');
  });
});
