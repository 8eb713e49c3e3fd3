import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeClient, type FakeCaller } from '../../../test/kit/fake-client.js';
import { outcomeOf, refusalOf, flushPromises } from '../../../test/kit/promises.js';
import { linkTo, LINK_OPTIONS, FakeTransport } from '../../../test/kit/fake-transport.js';
import { JsonRpcLink } from './json-rpc-link.js';

const TIMEOUT_MS = 1000;
/** The maximum duration of a request is ten times its timeout. */
const MAX_MS = 10_000;

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

/** Two milliseconds more than given, because deadlines are checked shortly after they have passed. */
async function advance(ms: number): Promise<void> {
  jest.advanceTimersByTime(ms + 2);
  await flushPromises();
}

function call(link: JsonRpcLink, caller: FakeCaller = new FakeClient('a').call(), timeoutMs = TIMEOUT_MS) {
  const params = '{"_meta":{"progressToken":"t"}}';
  return { caller, outcome: outcomeOf(link.request({ method: 'tools/call', params, caller, timeoutMs })) };
}

describe('JsonRpcLink, a cancelled request', () => {
  it('sends one cancellation to the server and rejects', async () => {
    const { transport, link } = await linkTo();
    const { caller, outcome } = call(link);
    const { id } = transport.only('tools/call');
    caller.cancel();
    caller.cancel();
    await flushPromises();
    expect(outcome.error).toMatchObject({ kind: 'cancelled' });
    expect(transport.only('notifications/cancelled').params).toEqual({ requestId: id, reason: 'cancelled' });
    expect(transport.abandoned).toEqual([id]);
    expect(caller.abortListeners).toBe(0);
  });

  it('sends no cancellation after the response', async () => {
    const { transport, link } = await linkTo();
    const { caller } = call(link);
    transport.answer(transport.only('tools/call').id, {});
    caller.cancel();
    expect(transport.all('notifications/cancelled')).toEqual([]);
    expect(caller.abortListeners).toBe(0);
  });

  it('does not affect other requests', async () => {
    const { transport, link } = await linkTo();
    const first = call(link);
    const second = call(link);
    first.caller.cancel();
    transport.answer(transport.all('tools/call')[1]!.id, { n: 2 });
    await flushPromises();
    expect(second.outcome.value?.text).toBe('{"n":2}');
  });

  it('ignores a late response and late progress', async () => {
    const { transport, link } = await linkTo();
    const { caller, outcome } = call(link);
    const { id } = transport.only('tools/call');
    caller.cancel();
    transport.notify('notifications/progress', { progressToken: id, progress: 1 });
    transport.answer(id, {});
    await flushPromises();
    expect(outcome.value).toBeUndefined();
    expect(caller.notifications).toEqual([]);
  });

  it('is not sent when it is cancelled already', async () => {
    const { transport, link } = await linkTo();
    const caller = new FakeClient('a').call();
    caller.cancel();
    const { outcome } = call(link, caller);
    await flushPromises();
    expect(outcome.error).toMatchObject({ kind: 'cancelled' });
    expect(transport.sent).toEqual([]);
    expect(caller.abortListeners).toBe(0);
  });
});

describe('JsonRpcLink, a request without a response', () => {
  it('sends a cancellation to the server and rejects after its timeout', async () => {
    const { transport, link } = await linkTo();
    const { outcome, caller } = call(link);
    const { id } = transport.only('tools/call');
    await advance(TIMEOUT_MS - 10);
    expect(outcome.error).toBeUndefined();
    await advance(10);
    expect(outcome.error).toMatchObject({ kind: 'timeout', data: { code: 'TIMEOUT', server: 'db' } });
    expect(outcome.error?.message).toBe('TIMEOUT: server db did not answer tools/call within 1000 ms');
    expect(transport.only('notifications/cancelled').params).toEqual({ requestId: id, reason: 'timeout' });
    expect(transport.abandoned).toEqual([id]);
    expect(caller.abortListeners).toBe(0);
  });

  it('times out after its own timeout', async () => {
    const { link } = await linkTo();
    const long = call(link, undefined, 3 * TIMEOUT_MS);
    const short = call(link);
    await advance(TIMEOUT_MS);
    expect(short.outcome.error).toBeDefined();
    expect(long.outcome.error).toBeUndefined();
    await advance(2 * TIMEOUT_MS);
    expect(long.outcome.error).toMatchObject({ kind: 'timeout' });
  });

  it('sends no cancellation of initialize', async () => {
    const transport = new FakeTransport({ facts: null });
    const connecting = refusalOf(JsonRpcLink.connect(transport, LINK_OPTIONS, new AbortController().signal));
    await flushPromises();
    await advance(LINK_OPTIONS.connectTimeoutMs);
    expect(await connecting).toMatchObject({ cause: { kind: 'timeout' } });
    expect(transport.sent).toEqual([]);
    expect(transport.closes).toBeGreaterThan(0);
  });
});

describe('JsonRpcLink, a request with progress', () => {
  it('restarts its timeout with every progress notification', async () => {
    const { transport, link } = await linkTo();
    const { outcome, caller } = call(link);
    const progressToken = transport.only('tools/call').id;
    for (let progress = 1; progress <= 5; progress++) {
      await advance(TIMEOUT_MS - 100);
      transport.notify('notifications/progress', { progressToken, progress });
    }
    expect(outcome.error).toBeUndefined();
    expect(caller.notifications).toHaveLength(5);
    await advance(TIMEOUT_MS);
    expect(outcome.error).toMatchObject({ kind: 'timeout' });
  });

  it('times out after ten times its timeout', async () => {
    const { transport, link } = await linkTo();
    const { outcome } = call(link);
    const progressToken = transport.only('tools/call').id;
    const started = performance.now();
    for (let progress = 1; outcome.error === undefined; progress++) {
      transport.notify('notifications/progress', { progressToken, progress });
      await advance(100);
    }
    expect(outcome.error).toMatchObject({ kind: 'timeout' });
    expect(performance.now() - started).toBeGreaterThanOrEqual(MAX_MS);
    expect(performance.now() - started).toBeLessThan(MAX_MS + 2 * 102);
    expect(transport.all('notifications/cancelled')).toHaveLength(1);
  });
});

/** A call during which the server has sent a request to the client. */
async function callWithServerRequest() {
  const { transport, link } = await linkTo();
  const { outcome, caller } = call(link);
  transport.request(7, 'elicitation/create', {});
  return { transport, link, outcome, caller };
}

describe('JsonRpcLink, a request during an open server request', () => {
  it('does not time out while the server request is open', async () => {
    const { transport, outcome, caller } = await callWithServerRequest();
    await advance(5 * TIMEOUT_MS);
    expect(outcome.error).toBeUndefined();
    caller.requests[0]!.answer({ action: 'accept' });
    await flushPromises();
    transport.answer(transport.only('tools/call').id, { n: 1 });
    await flushPromises();
    expect(outcome.value?.text).toBe('{"n":1}');
  });

  it('restarts its timeout with the response of the client', async () => {
    const { outcome, caller } = await callWithServerRequest();
    await advance(TIMEOUT_MS - 10);
    caller.requests[0]!.answer({ action: 'accept' });
    await flushPromises();
    await advance(TIMEOUT_MS - 10);
    expect(outcome.error).toBeUndefined();
    await advance(10);
    expect(outcome.error).toMatchObject({ kind: 'timeout' });
  });

  it('times out after ten times its timeout, and cancels the server request', async () => {
    const { transport, outcome, caller } = await callWithServerRequest();
    await advance(MAX_MS - 100);
    expect(outcome.error).toBeUndefined();
    await advance(200);
    expect(outcome.error).toMatchObject({ kind: 'timeout' });
    expect(caller.requests[0]!.options.signal.aborted).toBe(true);
    expect(transport.only('notifications/cancelled').params).toMatchObject({ reason: 'timeout' });
  });

  it('times out when the server has cancelled its request', async () => {
    const { transport, outcome } = await callWithServerRequest();
    await advance(TIMEOUT_MS + 500);
    transport.notify('notifications/cancelled', { requestId: 7 });
    await advance(TIMEOUT_MS);
    expect(outcome.error).toMatchObject({ kind: 'timeout' });
  });

  it('does not extend the timeout of other requests', async () => {
    const { transport, link } = await linkTo();
    const asked = call(link);
    const other = call(link, new FakeClient('b').call());
    transport.request(7, 'elicitation/create', {}, transport.all('tools/call')[0]!.id);
    await advance(TIMEOUT_MS);
    expect(other.outcome.error).toMatchObject({ kind: 'timeout' });
    expect(asked.outcome.error).toBeUndefined();
  });
});
