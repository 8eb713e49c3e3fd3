import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import type { Events } from '../../test/kit/events.js';
import { RawSession } from '../../test/kit/raw-session.js';
import { deferred, until, within } from '../../test/kit/until.js';
import { GatewayError, RemoteError } from '../core/errors.js';
import { JsonText } from '../lib/json-text/json-text.js';
import type { RequestContext } from './request-context.js';
import { EdgeHarness } from '../../test/kit/edge-harness.js';

let edge: EdgeHarness;
beforeEach(async () => {
  Logger.overrideLogger(false);
  edge = new EdgeHarness();
  await edge.listen();
  onCleanup(() => edge.close());
});

/** A method `slow` that runs until the spec ends it; returns its requests by id. */
function slowMethod() {
  const contexts = new Map<unknown, RequestContext>();
  const ends = new Map<unknown, (result: object) => void>();
  edge.handlers.set('slow', (_params, context) => {
    contexts.set(context.requestId, context);
    return new Promise((resolve, reject) => {
      ends.set(context.requestId, resolve);
      context.signal.addEventListener('abort', () => reject(new GatewayError('cancelled', 'cancelled')));
    });
  });
  const started = (id: unknown): Promise<RequestContext> =>
    until(`request ${String(id)} has arrived`, () => contexts.get(id));
  return { started, end: (id: unknown, result: object) => ends.get(id)?.(result) };
}

const methodsOn = (events: Events): unknown[] => events.messages.map(({ method }) => method);

const progress = (n: number): JsonText => JsonText.of({ progressToken: 't', progress: n });

describe('MessageReceiver requests', () => {
  it('are answered with JSON when no message precedes the result', async () => {
    edge.handlers.set('x', () => new JsonText('{ "n":1.0 }'));
    const session = await RawSession.open(edge.url);
    const answer = await session.request('x', {}, 'id');
    expect(answer.text).toBe('{"jsonrpc":"2.0","id":"id","result":{ "n":1.0 }}');
  });

  it.each<[string, Error, unknown]>([
    [
      'a failure of the gateway',
      new GatewayError('server-unavailable', 'SERVER_UNAVAILABLE', { server: 'db' }),
      { code: -31003, message: 'SERVER_UNAVAILABLE', data: { server: 'db' } },
    ],
    [
      "a server's own error",
      new RemoteError(-1, 'no', '{"code":-1,"message":"no","data":7}'),
      { code: -1, message: 'no', data: 7 },
    ],
    ['anything else', new TypeError('secret'), { code: -32603, message: 'Internal error' }],
  ])('that fail with %s are answered with its code', async (_what, error, expected) => {
    edge.handlers.set('x', () => {
      throw error;
    });
    const session = await RawSession.open(edge.url);
    expect((await session.request('x')).error).toEqual(expected);
  });

  it('are answered with a stream when a message precedes the result', async () => {
    edge.handlers.set('x', (_params, context) => {
      context.notify('notifications/progress', progress(1));
      return { done: true };
    });
    const session = await RawSession.open(edge.url);
    const answer = await session.request('x');
    expect(answer.before).toMatchObject([{ method: 'notifications/progress', params: { progress: 1 } }]);
    expect(answer.result).toEqual({ done: true });
  });

  it('with the id of a running request are refused, and the first is answered', async () => {
    const { started, end } = slowMethod();
    const session = await RawSession.open(edge.url);
    const first = session.request('slow', {}, 7);
    await started(7);
    expect((await session.request('ping', {}, 7)).error?.code).toBe(-32600);
    end(7, { n: 1 });
    expect((await first).result).toEqual({ n: 1 });
  });

  it('of several clients may have the same id', async () => {
    edge.handlers.set('echo', async (params) => {
      await new Promise((resolve) => setImmediate(resolve));
      return params;
    });
    const sessions = await Promise.all(Array.from({ length: 20 }, () => RawSession.open(edge.url)));
    const answers = await Promise.all(sessions.map((session, n) => session.request('echo', { n }, 1)));
    expect(answers.map(({ result }) => result)).toEqual(sessions.map((_, n) => ({ n })));
  });

  it('continue after a lost connection, and the client can resume the stream', async () => {
    const { started, end } = slowMethod();
    const session = await RawSession.open(edge.url);
    const broken = session.stream('slow', {}, 7);
    const context = await started(7);
    context.notify('notifications/progress', progress(1));
    const events = await broken;
    await events.message('the progress', ({ method }) => method === 'notifications/progress');
    const lastEventId = events.lastId;
    events.disconnect();
    context.notify('notifications/progress', progress(2));
    expect(context.signal.aborted).toBe(false);
    const resumed = await session.listen(lastEventId);
    context.notify('notifications/progress', progress(3));
    end(7, { done: true });
    await resumed.untilEnded();
    expect(resumed.messages).toMatchObject([
      { params: { progress: 2 } },
      { params: { progress: 3 } },
      { id: 7, result: { done: true } },
    ]);
  });

  it('that end while the client is disconnected are replayed', async () => {
    const { started, end } = slowMethod();
    const session = await RawSession.open(edge.url);
    const broken = session.stream('slow', {}, 7);
    (await started(7)).notify('notifications/progress', progress(1));
    const events = await broken;
    await events.message('the progress', ({ method }) => method === 'notifications/progress');
    events.disconnect();
    end(7, { done: true });
    await within('the end of the request', edge.receiver.inFlight.whenIdle());
    const resumed = await session.listen(events.lastId);
    await resumed.untilEnded();
    expect(resumed.messages).toMatchObject([{ id: 7, result: { done: true } }]);
  });
});

describe('MessageReceiver clients', () => {
  it('can cancel their requests', async () => {
    const { started } = slowMethod();
    const session = await RawSession.open(edge.url);
    const answer = session.request('slow', {}, 7);
    const context = await started(7);
    await session.notify('notifications/cancelled', { requestId: 7 });
    expect((await answer).error?.code).toBe(-31099);
    expect(context.signal.aborted).toBe(true);
  });

  it('cannot cancel requests of another client', async () => {
    const { started, end } = slowMethod();
    const [mine, other] = [await RawSession.open(edge.url), await RawSession.open(edge.url)];
    const answer = mine.request('slow', {}, 7);
    await started(7);
    await other.notify('notifications/cancelled', { requestId: 7 });
    end(7, { n: 1 });
    expect((await answer).result).toEqual({ n: 1 });
  });

  it('that close their session cancel its requests', async () => {
    const { started } = slowMethod();
    const session = await RawSession.open(edge.url);
    const answer = session.request('slow', {}, 7);
    await started(7);
    await session.end();
    expect((await answer).error).toBeDefined();
    await within('the end of the request', edge.receiver.inFlight.whenIdle());
  });

  it('get server requests on the stream of their request and respond with a POST', async () => {
    edge.handlers.set('ask', async (_params, context) => {
      const answer = await context.sendRequest('roots/list', JsonText.of({ _meta: { progressToken: 'b' } }), {
        signal: context.signal,
        onProgress: (params) => context.notify('notifications/forwarded', params),
      });
      return { answer };
    });
    const session = await RawSession.open(edge.url, { capabilities: { roots: {} } });
    const events = await session.stream('ask', {}, 7);
    const serverRequest = await events.message('the server request', ({ method }) => method === 'roots/list');
    const { progressToken } = serverRequest.params!['_meta'] as { progressToken: number };
    await session.notify('notifications/progress', { progressToken, progress: 1 });
    await events.message('the progress', ({ method }) => method === 'notifications/forwarded');
    expect((await session.reply(serverRequest.id, { roots: [] })).status).toBe(202);
    await events.untilEnded();
    expect(events.messages.at(-1)).toMatchObject({ id: 7, result: { answer: { roots: [] } } });
  });

  it('without the capability get no server request', async () => {
    edge.handlers.set('ask', (_params, context) =>
      context.sendRequest('roots/list', undefined, { signal: context.signal }),
    );
    const session = await RawSession.open(edge.url);
    expect((await session.request('ask')).error).toMatchObject({
      code: -32601,
      message: 'The client does not support roots/list',
    });
  });
});

describe('MessageReceiver notifications', () => {
  it('without a handler, or with a failing one, are answered with 202', async () => {
    edge.handlers.set('notifications/bad', () => {
      throw new Error('bad');
    });
    const session = await RawSession.open(edge.url);
    expect((await session.notify('notifications/bad')).status).toBe(202);
    expect((await session.request('ping')).result).toEqual({});
  });

  it('are sent on the standalone stream, earlier ones first', async () => {
    const session = await RawSession.open(edge.url);
    const [served] = edge.sessions.all();
    served!.notify('notifications/a', undefined);
    const events = await session.listen();
    served!.notify('notifications/b', undefined);
    await events.message('b', ({ method }) => method === 'notifications/b');
    expect(methodsOn(events)).toEqual(['notifications/a', 'notifications/b']);
  });

  it('that were missed on the standalone stream are replayed', async () => {
    const session = await RawSession.open(edge.url);
    const [served] = edge.sessions.all();
    const events = await session.listen();
    served!.notify('notifications/a', undefined);
    await events.message('a', ({ method }) => method === 'notifications/a');
    events.disconnect();
    served!.notify('notifications/b', undefined);
    const resumed = await session.listen(events.lastId);
    await resumed.message('b', ({ method }) => method === 'notifications/b');
    expect(methodsOn(resumed)).toEqual(['notifications/b']);
  });
});

describe('InFlightRequests.whenIdle', () => {
  it('resolves when no request is running', async () => {
    const { started, end } = slowMethod();
    await within('idleness', edge.receiver.inFlight.whenIdle());
    const session = await RawSession.open(edge.url);
    const answer = session.request('slow', {}, 7);
    await started(7);
    const idle = deferred();
    let isIdle = false;
    void edge.receiver.inFlight.whenIdle().then(() => {
      isIdle = true;
      idle.resolve();
    });
    expect((await session.request('ping')).result).toEqual({});
    expect(isIdle).toBe(false);
    end(7, {});
    await within('idleness', idle.promise);
    expect((await answer).result).toEqual({});
  });
});
