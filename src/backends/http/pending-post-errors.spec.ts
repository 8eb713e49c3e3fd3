import { afterEach, describe, expect, it } from '@jest/globals';
import { TransportError } from '../link/transport.js';
import { answerText, faultOf, sendJson, soon, HttpHarness } from '../../../test/kit/http-harness.js';

const harness = new HttpHarness();
afterEach(harness.release);

const ask = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"tools/call"}`;

const answers = (type: string, body: string, status = 200, headers = {}) => ({
  type,
  body,
  status,
  headers,
});

describe('a response that is no answer', () => {
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
    const { server, transport } = await harness.serve(({ response }) => {
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
    const { transport, messages } = await harness.serve(({ response }) => sendJson(response, text, status));
    await transport.sendText(ask(1), 1);
    expect(messages.all[0]?.received).toEqual({ text, requestId: 1 });
  });

  it('says how long a server wants to be left alone', async () => {
    const { transport } = await harness.serve(({ response }) =>
      response.writeHead(503, { 'retry-after': '7' }).end(),
    );
    await expect(transport.sendText(ask(1), 1)).rejects.toMatchObject({
      fault: 'refused',
      details: { httpStatus: 503, retryAfterMs: 7000 },
    });
  });

  it('uses the connection of a refused request again', async () => {
    const { server, transport } = await harness.serve(({ response }) =>
      sendJson(response, '{"error":"busy"}', 503),
    );
    for (let id = 0; id < 20; id++) expect(await faultOf(transport.sendText(ask(id), id))).toBe('refused');
    expect(server.connections).toBeLessThanOrEqual(2);
  });
});
