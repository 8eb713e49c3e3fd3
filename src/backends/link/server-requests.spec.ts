import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from '@jest/globals';
import { FakeClient, type FakeCaller } from '../../../test/kit/fake-client.js';
import { flushPromises } from '../../../test/kit/promises.js';
import { until } from '../../../test/kit/until.js';
import { GatewayError, RemoteError } from '../../core/errors.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import type { Caller } from '../../mcp/mcp-context.js';
import { MAX_OPEN_BYTES_PER_LINK, MAX_OPEN_REQUESTS_PER_LINK, ServerRequests } from './server-requests.js';

interface Reply {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

class Harness {
  readonly texts: string[] = [];
  readonly respondedFor: Caller[][] = [];
  readonly caller: FakeCaller = new FakeClient('a').call();
  readonly serverRequests = new ServerRequests(
    (text) => this.texts.push(text),
    (callers) => this.respondedFor.push([...callers]),
    undefined,
    (limit) => this.limits.push(limit),
  );
  readonly limits: string[] = [];

  receive(method: string, params?: string, channel: FakeCaller | undefined = this.caller): void {
    this.receiveAs('q', method, params, channel);
  }

  receiveAs(
    id: RequestId,
    method: string,
    params?: string,
    channel: FakeCaller | undefined = this.caller,
  ): void {
    this.serverRequests.receive({
      id,
      method,
      params: params === undefined ? undefined : new JsonText(params),
      channel,
      callers: channel ? [channel] : [],
      isOfCall: true,
    });
  }

  get replies(): Reply[] {
    return this.texts.map((text) => JSON.parse(text) as Reply);
  }

  /** The first request that the client received. */
  get clientRequest() {
    return this.caller.requests[0]!;
  }
}

describe('ServerRequests', () => {
  it('responds to a ping', () => {
    const harness = new Harness();
    harness.serverRequests.receive({
      id: 0,
      method: 'ping',
      params: undefined,
      channel: undefined,
      callers: [],
      isOfCall: true,
    });
    expect(harness.texts).toEqual(['{"jsonrpc":"2.0","id":0,"result":{}}']);
  });

  it.each(['tools/list', 'sampling/createmessage', 'tasks/get', '__proto__', ''])(
    'rejects the unknown method %j',
    (method) => {
      const harness = new Harness();
      harness.receive(method);
      expect(harness.replies).toEqual([
        { jsonrpc: '2.0', id: 'q', error: { code: -32601, message: `Method not found: ${method}` } },
      ]);
      expect(harness.caller.requests).toEqual([]);
    },
  );

  it.each(['sampling/createMessage', 'elicitation/create', 'roots/list'])(
    'forwards %s to the client and its response to the server',
    async (method) => {
      const harness = new Harness();
      harness.receive(method, '{"a":1.0}');
      expect(harness.clientRequest).toMatchObject({ method, params: { a: 1 } });
      harness.clientRequest.answer({ b: 2 });
      await flushPromises();
      expect(harness.replies).toEqual([{ jsonrpc: '2.0', id: 'q', result: { b: 2 } }]);
    },
  );

  it('forwards a request without params', () => {
    const harness = new Harness();
    harness.receive('roots/list');
    expect(harness.clientRequest.params).toBeUndefined();
  });

  it('rejects a request whose client is not known', () => {
    const harness = new Harness();
    harness.serverRequests.receive({
      id: 1,
      method: 'roots/list',
      params: undefined,
      channel: undefined,
      callers: [],
      isOfCall: true,
    });
    expect(harness.replies[0]?.error?.code).toBe(-32603);
  });

  it.each<[string, Error, unknown]>([
    [
      "the client's own error, as it wrote it",
      new RemoteError(-1, 'rejected', '{"code":-1,"message":"rejected","data":{"n":1}}'),
      { code: -1, message: 'rejected', data: { n: 1 } },
    ],
    [
      'an error of the gateway',
      new GatewayError('method-not-found', 'The client does not support roots/list'),
      { code: -32601, message: 'The client does not support roots/list' },
    ],
    [
      'no details of an unexpected error',
      new TypeError('x is undefined'),
      { code: -32603, message: 'Internal error' },
    ],
  ])('responds with %s', async (_what, error, expected) => {
    const harness = new Harness();
    harness.receive('roots/list');
    harness.clientRequest.decline(error);
    await flushPromises();
    expect(harness.replies).toEqual([{ jsonrpc: '2.0', id: 'q', error: expected }]);
  });
});

describe('ServerRequests, progress', () => {
  it('is sent under the token of the server', () => {
    const harness = new Harness();
    harness.receive('sampling/createMessage', '{"_meta":{"progressToken":"theirs"}}');
    harness.clientRequest.options.onProgress?.(new JsonText('{"progressToken":5,"progress":0.5,"x":1.0}'));
    expect(harness.texts).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"theirs","progress":0.5,"x":1.0}}',
    ]);
  });

  it('is not requested from the client without a token of the server', () => {
    const harness = new Harness();
    harness.receive('sampling/createMessage', '{}');
    expect(harness.clientRequest.options.onProgress).toBeUndefined();
  });
});

describe('ServerRequests, an open request', () => {
  it('is open for its call until the client responds', async () => {
    const harness = new Harness();
    const other = new FakeClient('a').call();
    harness.receive('roots/list');
    expect(harness.serverRequests.hasOpenFor(harness.caller)).toBe(true);
    expect(harness.serverRequests.hasOpenFor(other)).toBe(false);
    harness.clientRequest.answer({});
    await flushPromises();
    expect(harness.serverRequests.hasOpenFor(harness.caller)).toBe(false);
    expect(harness.respondedFor).toEqual([[harness.caller]]);
  });

  it('gets no response after the server has cancelled it, not even a late one', async () => {
    const harness = new Harness();
    harness.receive('roots/list');
    harness.serverRequests.cancel('q');
    harness.clientRequest.answer({});
    await flushPromises();
    expect(harness.texts).toEqual([]);
    expect(harness.clientRequest.options.signal.aborted).toBe(true);
  });

  it('is not affected by the cancellation of an unknown request', () => {
    const harness = new Harness();
    harness.receive('roots/list');
    harness.serverRequests.cancel('other');
    expect(harness.clientRequest.options.signal.aborted).toBe(false);
  });

  it('replaces an earlier request with the same id', async () => {
    const harness = new Harness();
    harness.receive('roots/list', '{"n":1}');
    harness.receive('roots/list', '{"n":2}');
    const [first, second] = harness.caller.requests;
    first!.answer({ n: 1 });
    await flushPromises();
    second!.answer({ n: 2 });
    await flushPromises();
    expect(harness.replies).toEqual([{ jsonrpc: '2.0', id: 'q', result: { n: 2 } }]);
  });

  it('is cancelled without a response when the link closes', async () => {
    const harness = new Harness();
    harness.receive('roots/list');
    harness.serverRequests.cancelAll();
    await flushPromises();
    expect(harness.clientRequest.options.signal.aborted).toBe(true);
    expect(harness.texts).toEqual([]);
  });
});

describe('ServerRequests limits', () => {
  const refused = expect.objectContaining({ error: expect.objectContaining({ code: -31029 }) });

  it('refuse and count requests beyond the number that may wait, until one is answered', async () => {
    const harness = new Harness();
    for (let id = 0; id <= MAX_OPEN_REQUESTS_PER_LINK; id++) harness.receiveAs(id, 'roots/list');
    expect(harness.replies).toEqual([refused]);
    expect(harness.limits).toEqual(['link-requests']);
    harness.clientRequest.answer({});
    await flushPromises();
    harness.receiveAs('next', 'roots/list');
    expect(harness.caller.requests).toHaveLength(MAX_OPEN_REQUESTS_PER_LINK + 1);
  });

  it('refuse requests beyond the bytes of params that may wait, except the first', async () => {
    const harness = new Harness();
    const params = JSON.stringify({ text: 'x'.repeat(MAX_OPEN_BYTES_PER_LINK) });
    harness.receiveAs(1, 'roots/list', params);
    harness.receiveAs(2, 'roots/list', '{}');
    expect(harness.replies).toEqual([refused]);
    await until('the long request is forwarded', () => harness.caller.requests.length > 0);
    harness.clientRequest.answer({});
    await flushPromises();
    harness.receiveAs(3, 'roots/list', '{}');
    expect(harness.caller.requests).toHaveLength(2);
  });

  it('cancel an open request whose id is used again', async () => {
    const harness = new Harness();
    for (let n = 0; n < MAX_OPEN_REQUESTS_PER_LINK * 2; n++) {
      harness.receive('roots/list');
      await flushPromises();
    }
    expect(harness.limits).toEqual([]);
    const open = harness.caller.requests.filter(({ options }) => !options.signal.aborted);
    expect(open).toHaveLength(1);
  });

  it('refuse a long progress token and count it', async () => {
    const harness = new Harness();
    harness.receive('roots/list', JSON.stringify({ _meta: { progressToken: 'x'.repeat(2000) } }));
    await flushPromises();
    expect(harness.replies).toMatchObject([{ error: { code: -32602 } }]);
    expect(harness.limits).toEqual(['progress-token']);
  });
});
