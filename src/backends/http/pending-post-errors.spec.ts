import { afterEach, describe, expect, it } from '@jest/globals';
import { TransportError } from '../link/transport.js';
import { callText, responseText, faultOf, sendJson, HttpHarness } from '../../../test/kit/http-harness.js';
import { within } from '../../../test/kit/until.js';

const harness = new HttpHarness();
afterEach(harness.release);

const responseOf = (type: string, body: string, status = 200, headers = {}) => ({
  type,
  body,
  status,
  headers,
});

describe('PendingPost with an HTTP response without the JSON-RPC response', () => {
  it.each([
    ['invalid JSON', responseOf('application/json', '{"jsonrpc":'), 'broken', /invalid JSON/],
    ['an empty body', responseOf('application/json', ''), 'broken', /invalid JSON/],
    ['a scalar', responseOf('application/json', '42'), 'broken', /does not contain the JSON-RPC response/],
    [
      'the response to another request',
      responseOf('application/json', responseText(2)),
      'broken',
      /does not contain the JSON-RPC response/,
    ],
    ['HTML', responseOf('text/html', '<p>'), 'broken', /HTTP 200 with text\/html/],
    ['202', responseOf('', '', 202), 'broken', /HTTP 202 with no content type/],
    [
      'an event that is not JSON',
      responseOf('text/event-stream', 'data: oops\n\n'),
      'broken',
      /invalid JSON/,
    ],
    [
      'an event stream without the response',
      responseOf('text/event-stream', ': bye\n\n'),
      'broken',
      /ended before the response/,
    ],
    [
      'gzip',
      responseOf('application/json', 'x', 200, { 'content-encoding': 'gzip' }),
      'broken',
      /compressed/,
    ],
    ['an error', responseOf('text/plain', 'no', 500), 'refused', /^HTTP 500 Internal Server Error$/],
    ['404 without a session', responseOf('text/plain', 'no', 404), 'refused', /^HTTP 404 Not Found$/],
    [
      'a JSON-RPC error without an id',
      responseOf('application/json', '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}', 400),
      'refused',
      /^HTTP 400/,
    ],
    [
      'a redirect',
      responseOf('', '', 307, { location: '/elsewhere' }),
      'refused',
      /\/elsewhere, which is not followed/,
    ],
  ])('fails on %s', async (_what, { type, body, status, headers }, fault, message) => {
    const { server, transport } = await harness.serve(({ response }) => {
      response.writeHead(status, { ...(type && { 'content-type': type }), ...headers }).end(body);
    });
    const error = await within(
      'the failure',
      transport.sendText(callText(1), 1).catch((thrown: Error) => thrown),
    );
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ fault, message: expect.stringMatching(message) });
    expect(server.requests.all).toHaveLength(1);
  });

  it.each([400, 404, 500])('delivers a JSON-RPC error in the body of HTTP %d', async (status) => {
    const text = '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}';
    const { transport, messages } = await harness.serve(({ response }) => sendJson(response, text, status));
    await transport.sendText(callText(1), 1);
    expect(messages.all[0]?.received).toEqual({ text, requestId: 1 });
  });

  it('reports the delay of Retry-After', async () => {
    const { transport } = await harness.serve(({ response }) =>
      response.writeHead(503, { 'retry-after': '7' }).end(),
    );
    await expect(transport.sendText(callText(1), 1)).rejects.toMatchObject({
      fault: 'refused',
      details: { httpStatus: 503, retryAfterMs: 7000 },
    });
  });

  it('reuses the connection after an HTTP error', async () => {
    const { server, transport } = await harness.serve(({ response }) =>
      sendJson(response, '{"error":"busy"}', 503),
    );
    for (let id = 0; id < 20; id++)
      expect(await faultOf(transport.sendText(callText(id), id))).toBe('refused');
    expect(server.connections).toBeLessThanOrEqual(2);
  });
});
