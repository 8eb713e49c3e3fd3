import { describe, expect, it } from '@jest/globals';
import { FakeClient, type FakeCaller } from '../../../test/kit/fake-client.js';
import { flushPromises } from '../../../test/kit/promises.js';
import { GatewayError, RemoteError } from '../../core/errors.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import type { Caller } from '../../mcp/mcp-context.js';
import { ServerRequests } from './server-requests.js';

interface Reply {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

class Asking {
  readonly texts: string[] = [];
  readonly settledFor: Caller[][] = [];
  readonly caller: FakeCaller = new FakeClient('a').call();
  readonly questions = new ServerRequests(
    (text) => this.texts.push(text),
    (callers) => this.settledFor.push([...callers]),
  );

  ask(method: string, params?: string, channel: FakeCaller | undefined = this.caller): void {
    this.questions.receive({ id: 'q', method, params, channel, callers: channel ? [channel] : [] });
  }

  get replies(): Reply[] {
    return this.texts.map((text) => JSON.parse(text) as Reply);
  }

  /** The requests that the client got. */
  get asked() {
    return this.caller.requests[0]!;
  }
}

describe('ServerRequests', () => {
  it('responds to a ping', () => {
    const asking = new Asking();
    asking.questions.receive({ id: 0, method: 'ping', params: undefined, channel: undefined, callers: [] });
    expect(asking.texts).toEqual(['{"jsonrpc":"2.0","id":0,"result":{}}']);
  });

  it.each(['tools/list', 'sampling/createmessage', 'tasks/get', '__proto__', ''])(
    'rejects the unknown method %j',
    (method) => {
      const asking = new Asking();
      asking.ask(method);
      expect(asking.replies).toEqual([
        { jsonrpc: '2.0', id: 'q', error: { code: -32601, message: `Method not found: ${method}` } },
      ]);
      expect(asking.caller.requests).toEqual([]);
    },
  );

  it.each(['sampling/createMessage', 'elicitation/create', 'roots/list'])(
    'forwards %s to the client and its response to the server',
    async (method) => {
      const asking = new Asking();
      asking.ask(method, '{"a":1.0}');
      expect(asking.asked).toMatchObject({ method, params: { a: 1 } });
      asking.asked.answer({ b: 2 });
      await flushPromises();
      expect(asking.replies).toEqual([{ jsonrpc: '2.0', id: 'q', result: { b: 2 } }]);
    },
  );

  it('forwards a request without params', () => {
    const asking = new Asking();
    asking.ask('roots/list');
    expect(asking.asked.params).toBeUndefined();
  });

  it('rejects a request without a single possible client', () => {
    const asking = new Asking();
    asking.questions.receive({
      id: 1,
      method: 'roots/list',
      params: undefined,
      channel: undefined,
      callers: [],
    });
    expect(asking.replies[0]?.error?.code).toBe(-32603);
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
    const asking = new Asking();
    asking.ask('roots/list');
    asking.asked.decline(error);
    await flushPromises();
    expect(asking.replies).toEqual([{ jsonrpc: '2.0', id: 'q', error: expected }]);
  });
});

describe('ServerRequests, progress', () => {
  it('is sent under the token of the server', () => {
    const asking = new Asking();
    asking.ask('sampling/createMessage', '{"_meta":{"progressToken":"theirs"}}');
    asking.asked.options.onProgress?.(new JsonText('{"progressToken":5,"progress":0.5,"x":1.0}'));
    expect(asking.texts).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"theirs","progress":0.5,"x":1.0}}',
    ]);
  });

  it('is not requested from the client without a token of the server', () => {
    const asking = new Asking();
    asking.ask('sampling/createMessage', '{}');
    expect(asking.asked.options.onProgress).toBeUndefined();
  });
});

describe('ServerRequests, an open request', () => {
  it('is open for its call until the client responds', async () => {
    const asking = new Asking();
    const other = new FakeClient('a').call();
    asking.ask('roots/list');
    expect(asking.questions.hasOpenFor(asking.caller)).toBe(true);
    expect(asking.questions.hasOpenFor(other)).toBe(false);
    asking.asked.answer({});
    await flushPromises();
    expect(asking.questions.hasOpenFor(asking.caller)).toBe(false);
    expect(asking.settledFor).toEqual([[asking.caller]]);
  });

  it('gets no response after the server has cancelled it, not even a late one', async () => {
    const asking = new Asking();
    asking.ask('roots/list');
    asking.questions.cancel('q');
    asking.asked.answer({});
    await flushPromises();
    expect(asking.texts).toEqual([]);
    expect(asking.asked.options.signal.aborted).toBe(true);
  });

  it('is not affected by the cancellation of an unknown request', () => {
    const asking = new Asking();
    asking.ask('roots/list');
    asking.questions.cancel('other');
    expect(asking.asked.options.signal.aborted).toBe(false);
  });

  it('replaces an earlier request with the same id', async () => {
    const asking = new Asking();
    asking.ask('roots/list', '{"n":1}');
    asking.ask('roots/list', '{"n":2}');
    const [first, second] = asking.caller.requests;
    first!.answer({ n: 1 });
    await flushPromises();
    second!.answer({ n: 2 });
    await flushPromises();
    expect(asking.replies).toEqual([{ jsonrpc: '2.0', id: 'q', result: { n: 2 } }]);
  });

  it('is cancelled without a response when the link closes', async () => {
    const asking = new Asking();
    asking.ask('roots/list');
    asking.questions.cancelAll();
    await flushPromises();
    expect(asking.asked.options.signal.aborted).toBe(true);
    expect(asking.texts).toEqual([]);
  });
});
