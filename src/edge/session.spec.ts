import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { outcomeOf, refusalOf, flushPromises } from '../../test/kit/promises.js';
import { advanceTime } from '../../test/kit/fake-time.js';
import { FakeResponse } from '../../test/kit/fake-response.js';
import { JsonText } from '../lib/json-text/json-text.js';
import { eventFrame } from '../mcp/event-frame.js';
import { Exchange } from './exchange.js';
import { RequestContext } from './request-context.js';
import { Session, type PreviousSession } from './session.js';

const LIMITS = {
  streamQueue: 10,
  streamStuckMs: 1000,
  replayEvents: 10,
  inFlightPerSession: 3,
  unreadBytesPerSession: 1000,
  unreadBytesPerPrincipal: 1000,
};

function begin(session: Session, id: string | number) {
  const answer = new FakeResponse();
  const exchange = new Exchange(answer.response, session, 1);
  const context = new RequestContext(session, exchange, 'tools/call', id, undefined);
  session.beginRequest(context);
  const finish = (): void => {
    exchange.answer('{}');
    session.finishRequest(context);
  };
  return { answer, context, exchange, finish };
}

async function listening(session: Session): Promise<FakeResponse> {
  const connection = new FakeResponse();
  session.listen(connection.response);
  await flushPromises();
  return connection;
}

/** A connection whose client reads nothing. */
function stuckConnection(): FakeResponse {
  const connection = new FakeResponse();
  connection.response.write = () => false;
  return connection;
}

const streamsOf = (session: Session): number =>
  (Reflect.get(session.streams, 'responseStreams') as Map<string, unknown>).size;

const previousSession = (): PreviousSession => ({ id: 'abc', openedAt: 5, seenAt: Date.now() - 1000 });

const message = (level: string): JsonText => JsonText.of({ level, data: 'x' });

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

describe('Session', () => {
  it('reports missed events on each connection after the first that comes without Last-Event-ID', async () => {
    const session = new Session(LIMITS);
    const reported: string[][] = [];
    session.onMissedEvents((queued) => reported.push([...queued]));
    const first = await listening(session);
    expect(reported).toEqual([]);
    // The client may have lost a connection that looks open here.
    const second = await listening(session);
    expect(reported).toEqual([[]]);
    for (const connection of [first, second]) await connection.disconnect();
    session.listen(new FakeResponse().response, { stream: '', sequence: 17 });
    expect(reported).toHaveLength(1);
  });

  it('names the events that are queued for a client that opens its stream again', async () => {
    const session = new Session(LIMITS);
    const reported: string[][] = [];
    session.onMissedEvents((queued) => reported.push([...queued]));
    await (await listening(session)).disconnect();
    session.deliver(eventFrame('{}'), { coalesce: 'key' });
    await listening(session);
    expect(reported).toEqual([['key']]);
  });

  it('has a random key that is valid in a header', () => {
    const keys = Array.from({ length: 100 }, () => new Session(LIMITS).key);
    expect(new Set(keys).size).toBe(100);
    for (const key of keys) expect(key).toMatch(/^[A-Za-z0-9_-]{32}$/);
  });

  it('has an id from which the key cannot be derived', () => {
    const { id, key } = new Session(LIMITS);
    expect(id).toBe(createHash('sha256').update(key!).digest('hex'));
  });

  it('has the profile of its client', () => {
    const session = new Session(LIMITS);
    expect(session).toMatchObject({ capabilities: {}, clientInfo: undefined });
    session.profile.set({ capabilities: { roots: {} }, clientInfo: { name: 'c', version: '1' } });
    expect(session).toMatchObject({
      capabilities: { roots: {} },
      clientInfo: { name: 'c' },
    });
  });
});

describe('Session requests', () => {
  it('with the id of a running request are refused, and the first continues', () => {
    const session = new Session(LIMITS);
    const { context } = begin(session, 1);
    expect(() => begin(session, 1)).toThrow(expect.objectContaining({ kind: 'invalid-request' }));
    expect(session.inFlight).toBe(1);
    session.requests.abort(1);
    expect(context.signal.aborted).toBe(true);
  });

  it('may reuse the id of an ended request, and 1 differs from "1"', () => {
    const session = new Session(LIMITS);
    begin(session, 1).finish();
    begin(session, 1);
    begin(session, '1');
    expect(session.inFlight).toBe(2);
  });

  it('above the limit are refused until one ends', () => {
    const session = new Session(LIMITS);
    const [first] = [begin(session, 1), begin(session, 2), begin(session, 3)];
    expect(() => begin(session, 4)).toThrow(
      expect.objectContaining({ kind: 'limit-exceeded', data: { code: 'LimitExceeded', limit: 3 } }),
    );
    first.finish();
    expect(() => begin(session, 4)).not.toThrow();
  });

  it('are cancelled one by one', () => {
    const session = new Session(LIMITS);
    const [first, second] = [begin(session, 1), begin(session, 2)];
    session.requests.abort('1');
    session.requests.abort(99);
    expect(first.context.signal.aborted).toBe(false);
    session.requests.abort(1);
    expect(first.context.signal.aborted).toBe(true);
    expect(second.context.signal.aborted).toBe(false);
  });
});

describe('Session idle time', () => {
  it('counts from the last activity', () => {
    const session = new Session(LIMITS);
    jest.advanceTimersByTime(999);
    expect(session.isIdleFor(1000)).toBe(false);
    jest.advanceTimersByTime(1);
    expect(session.isIdleFor(1000)).toBe(true);
    session.touch();
    expect(session.isIdleFor(1000)).toBe(false);
  });

  it('counts from the end of the last request', () => {
    const session = new Session(LIMITS);
    const { finish } = begin(session, 1);
    jest.advanceTimersByTime(5000);
    expect(session.isIdleFor(1000)).toBe(false);
    finish();
    expect(session.isIdleFor(1000)).toBe(false);
    jest.advanceTimersByTime(1000);
    expect(session.isIdleFor(1000)).toBe(true);
  });

  it('counts from the end of the last stream', async () => {
    const session = new Session(LIMITS);
    const connection = await listening(session);
    jest.advanceTimersByTime(5000);
    expect(session.isIdleFor(1000)).toBe(false);
    await connection.disconnect();
    expect(session.isIdleFor(1000)).toBe(false);
    jest.advanceTimersByTime(1000);
    expect(session.isIdleFor(1000)).toBe(true);
  });
});

describe('Session notifications', () => {
  it('are queued without a stream and sent once', async () => {
    const session = new Session(LIMITS);
    session.notify('notifications/x', JsonText.of({ n: 1 }));
    const connection = await listening(session);
    expect(connection.messages).toEqual([{ jsonrpc: '2.0', method: 'notifications/x', params: { n: 1 } }]);
  });

  it('of log messages below the level of the client are not sent on any stream', async () => {
    const session = new Session(LIMITS);
    const connection = await listening(session);
    const { context, exchange } = begin(session, 1);
    const sent: string[] = [];
    exchange.send = (sentMessage) => sent.push(String(sentMessage)) > 0;
    for (const level of [undefined, 'debug', 'error'] as const) {
      session.logLevel = level;
      for (const text of ['debug', 'info', 'error', 'invalid']) {
        session.notify('notifications/message', message(text));
        context.notify('notifications/message', message(text));
      }
      session.notify('notifications/message', undefined);
    }
    await flushPromises();
    const levels = ['info', 'error', 'debug', 'info', 'error', 'error'];
    expect(connection.messages.map(({ params }) => (params as { level: string }).level)).toEqual(levels);
    expect(sent).toHaveLength(levels.length);
  });
});

const withRoots = (): Session => {
  const session = new Session(LIMITS);
  session.profile.set({ capabilities: { roots: {} }, clientInfo: undefined });
  return session;
};

describe('Session server requests', () => {
  it('are refused when the client opens no stream within five seconds', async () => {
    const { signal } = new AbortController();
    const outcome = outcomeOf(withRoots().sendRequest('roots/list', undefined, { signal }));
    await advanceTime(4999);
    expect(outcome.error).toBeUndefined();
    await advanceTime(1);
    expect(outcome.error).toMatchObject({ kind: 'internal' });
  });

  it('wait for the client to open its stream', async () => {
    const session = withRoots();
    const { signal } = new AbortController();
    outcomeOf(session.sendRequest('roots/list', undefined, { signal }));
    await advanceTime(1000);
    const connection = await listening(session);
    expect(connection.methods).toEqual(['roots/list']);
  });

  it('are sent on the stream of a running request while there is no standalone stream', async () => {
    const session = withRoots();
    const { exchange } = begin(session, 1);
    const sent: string[] = [];
    exchange.send = (sentMessage) => sent.push(String(sentMessage)) > 0;
    outcomeOf(session.sendRequest('roots/list', undefined, { signal: new AbortController().signal }));
    expect(sent).toEqual([expect.stringContaining('roots/list')]);
  });

  it.each([
    ['is cancelled', (_session: Session, abort: AbortController) => abort.abort()],
    ['ends', (session: Session) => session.close()],
  ])('that wait for a stream are refused when the request or session %s', async (_what, end) => {
    const session = withRoots();
    const abort = new AbortController();
    const outcome = outcomeOf(session.sendRequest('roots/list', undefined, { signal: abort.signal }));
    end(session, abort);
    await listening(session);
    await advanceTime(5000);
    expect(outcome.error).toBeInstanceOf(Error);
  });

  it('are refused without the capability', async () => {
    const session = new Session(LIMITS);
    await listening(session);
    const { signal } = new AbortController();
    expect(await refusalOf(session.sendRequest('roots/list', undefined, { signal }))).toMatchObject({
      kind: 'method-not-found',
    });
  });

  it('are sent on the standalone stream or on the stream of their request', async () => {
    const session = new Session(LIMITS);
    session.profile.set({ capabilities: { roots: {} }, clientInfo: undefined });
    const connection = await listening(session);
    const { signal } = new AbortController();
    const outcome = outcomeOf(session.sendRequest('roots/list', undefined, { signal }));
    const { context, exchange } = begin(session, 1);
    const sent: string[] = [];
    exchange.send = (sentMessage) => sent.push(String(sentMessage)) > 0;
    outcomeOf(context.sendRequest('roots/list', undefined, { signal }));
    await flushPromises();
    expect(connection.methods).toEqual(['roots/list']);
    expect(sent).toHaveLength(1);
    session.requestsToClient.receive({
      kind: 'response',
      id: connection.messages[0]!.id!,
      outcome: 'result',
      json: new JsonText('{"roots":[]}'),
    });
    await flushPromises();
    expect(outcome.value?.text).toBe('{"roots":[]}');
  });
});

describe('Session.close', () => {
  it('cancels requests, rejects server requests, ends the stream and calls listeners, once', async () => {
    const session = new Session(LIMITS);
    session.profile.set({ capabilities: { roots: {} }, clientInfo: undefined });
    const connection = await listening(session);
    const { context } = begin(session, 1);
    const serverRequest = outcomeOf(
      session.sendRequest('roots/list', undefined, { signal: new AbortController().signal }),
    );
    let calls = 0;
    let removedCalls = 0;
    session.onClose(() => calls++);
    session.onClose(() => removedCalls++)();
    session.close();
    session.close();
    await flushPromises();
    expect(context.signal.aborted).toBe(true);
    expect(serverRequest.error).toMatchObject({ kind: 'cancelled' });
    expect([calls, removedCalls]).toEqual([1, 0]);
    expect(connection.response.writableEnded).toBe(true);
  });

  it('calls later listeners at once', () => {
    const session = new Session(LIMITS);
    session.close();
    let calls = 0;
    session.onClose(() => calls++);
    expect(calls).toBe(1);
  });

  it('still destroys stuck connections', () => {
    const session = new Session(LIMITS);
    const [standalone, answer] = [stuckConnection(), stuckConnection()];
    session.listen(standalone.response);
    const exchange = new Exchange(answer.response, session, 1);
    for (const n of [1, 2]) {
      session.deliver(eventFrame(`{"n":${n}}`), {});
      exchange.send(`{"n":${n}}`);
    }
    session.close();
    exchange.answer('{}');
    const destroyed = (): boolean[] => [standalone, answer].map(({ response }) => response.destroyed);
    jest.advanceTimersByTime(999);
    expect(destroyed()).toEqual([false, false]);
    jest.advanceTimersByTime(1);
    expect(destroyed()).toEqual([true, true]);
  });

  it('ignores later deliveries', () => {
    const session = new Session(LIMITS);
    session.close();
    expect(() => session.deliver(eventFrame('{}'), {})).not.toThrow();
  });
});

describe('Session streams', () => {
  it('are removed when their request is answered, with or without a connection', async () => {
    const session = new Session(LIMITS);
    const connected = begin(session, 1);
    connected.exchange.send('{"n":1}');
    const disconnected = begin(session, 2);
    disconnected.exchange.send('{"n":1}');
    await disconnected.answer.disconnect();
    expect(streamsOf(session)).toBe(2);
    connected.finish();
    disconnected.finish();
    expect(streamsOf(session)).toBe(0);
  });

  it('get keep-alive comments, and a slow response becomes a stream', () => {
    const session = new Session(LIMITS);
    const { exchange } = begin(session, 1);
    jest.advanceTimersByTime(999);
    session.keepAlive(1000);
    expect(streamsOf(session)).toBe(0);
    jest.advanceTimersByTime(1);
    session.keepAlive(1000);
    expect(streamsOf(session)).toBe(1);
    expect(exchange.isAnswered).toBe(false);
  });

  it('of a batch get keep-alive comments until its last response', () => {
    const session = new Session(LIMITS);
    const exchange = Exchange.ofBatch(new FakeResponse().response, session, 2);
    const contexts = [1, 2].map((id) => new RequestContext(session, exchange, 'x', id, undefined));
    for (const context of contexts) session.beginRequest(context);
    exchange.answer('{}');
    session.finishRequest(contexts[0]!);
    jest.advanceTimersByTime(1000);
    session.keepAlive(1000);
    expect(streamsOf(session)).toBe(1);
  });
});

describe('Session of the previous process', () => {
  it('has its stored id and age, and no key', () => {
    const session = new Session(LIMITS, undefined, { previous: previousSession() });
    expect(session).toMatchObject({ id: 'abc', openedAt: 5, key: undefined });
    expect(session.isIdleFor(1000)).toBe(true);
    expect(session.isIdleFor(1100)).toBe(false);
  });
});
