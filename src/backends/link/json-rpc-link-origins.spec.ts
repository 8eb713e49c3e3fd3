import { describe, expect, it } from '@jest/globals';
import { FakeClient, type FakeCaller } from '../../../test/kit/fake-client.js';
import { outcomeOf, flushPromises } from '../../../test/kit/promises.js';
import { linkTo, type FakeTransport } from '../../../test/kit/fake-transport.js';
import type { JsonRpcLink, LinkOptions } from './json-rpc-link.js';
import type { ServerNotification } from './link.js';

/** A link with a call of each of these clients in flight, in their order; `-` is a request of the gateway itself. */
async function linkWithCalls(clients: readonly string[], options: Partial<LinkOptions> = {}) {
  const { transport, link } = await linkTo({}, options);
  const byName = new Map<string, FakeClient>();
  const calls = clients.map((name) => {
    if (name === '-') return request(transport, link, undefined);
    const client = byName.get(name) ?? new FakeClient(name);
    byName.set(name, client);
    return request(transport, link, client.call());
  });
  const received: ServerNotification[] = [];
  link.onNotification((notification) => received.push(notification));
  return { transport, link, calls, received };
}

function request(transport: FakeTransport, link: JsonRpcLink, caller: FakeCaller | undefined) {
  const outcome = outcomeOf(link.request({ method: 'x', caller, timeoutMs: 1000 }));
  return { caller, outcome, id: transport.all('x').at(-1)!.id! };
}

const hasServerRequest = (call: { caller: FakeCaller | undefined }): boolean =>
  (call.caller?.requests.length ?? 0) > 0;

describe('JsonRpcLink, notifications', () => {
  /** Clients of the calls in flight; index of the call on whose stream the notification comes; index of its call. */
  it.each([
    [[], undefined, 'no call'],
    [['-'], undefined, 'no call'],
    [['a'], undefined, 0],
    [['-', 'a'], undefined, 1],
    [['a', 'a'], undefined, 1],
    [['a', 'b'], undefined, 'any call'],
    [['a', 'b', 'a'], undefined, 'any call'],
    [['a', 'b'], 0, 0],
    [['a', 'b'], 1, 1],
    [['a', 'a', 'b'], 0, 0],
    [['a', '-'], 1, 'no call'],
    [['a'], 'finished', 'any call'],
    [[], 'finished', 'any call'],
  ] as const)('during calls of %j, on the stream of call %s, is for %s', async (clients, stream, owner) => {
    const { transport, calls, received } = await linkWithCalls(clients);
    const requestId = stream === 'finished' ? 999 : stream === undefined ? undefined : calls[stream]!.id;
    transport.notify('notifications/message', { level: 'info' }, requestId);
    expect(received[0]?.channel).toBe(typeof owner === 'number' ? calls[owner]?.caller : undefined);
    expect(received[0]?.ambiguous).toBe(owner === 'any call');
  });

  it('on the stream of a finished call does not reach the only other calling client', async () => {
    const { transport, calls, received } = await linkWithCalls(['a', 'b']);
    transport.answer(calls[0]!.id, {});
    transport.notify('notifications/message', { level: 'info', data: 'secret of a' }, calls[0]!.id);
    expect(received[0]).toMatchObject({ channel: undefined, ambiguous: true });
  });

  it.each([
    ['only another client calls', ['a', 'b'], { channel: undefined, ambiguous: true }],
    ['no client calls', ['a'], { channel: undefined, ambiguous: true }],
  ] as const)('of a cancelled call reaches no other client when %s', async (_what, clients, origin) => {
    const { transport, calls, received } = await linkWithCalls(clients);
    calls[0]!.caller!.cancel();
    transport.notify('notifications/message', { level: 'info', data: 'secret of a' });
    expect(received[0]).toMatchObject(origin);
    const requestsBefore = calls.map(hasServerRequest);
    transport.request('q', 'sampling/createMessage', {});
    expect(calls.map(hasServerRequest)).toEqual(requestsBefore);
  });

  it('of a cancelled call reaches its own client while that client calls', async () => {
    const { transport, calls, received } = await linkWithCalls(['a', 'a']);
    calls[0]!.caller!.cancel();
    transport.notify('notifications/message', { level: 'info', data: 'secret of a' });
    expect(received[0]?.channel).toBe(calls[1]!.caller);
  });

  it('is for the only calling client again when the server has responded to the cancelled call', async () => {
    const { transport, calls, received } = await linkWithCalls(['a', 'b']);
    calls[0]!.caller!.cancel();
    transport.answer(calls[0]!.id, {});
    transport.notify('notifications/message', { level: 'info' });
    expect(received[0]?.channel).toBe(calls[1]!.caller);
  });

  it('is for the owner of the link', async () => {
    const owner = new FakeClient('a');
    const { transport, calls, received } = await linkWithCalls([], { owner });
    transport.notify('notifications/message', {});
    transport.notify('notifications/message', {}, 999);
    expect(received.map(({ channel }) => channel)).toEqual([owner, owner]);
    expect(calls).toEqual([]);
  });
});

describe('JsonRpcLink, server requests', () => {
  it('reaches only the client whose call caused it', async () => {
    const { transport, calls } = await linkWithCalls(['a', 'b']);
    transport.request('q', 'sampling/createMessage', { task: {}, messages: [1] }, calls[0]!.id);
    expect(calls.map(hasServerRequest)).toEqual([true, false]);
    const { method, params } = calls[0]!.caller!.requests[0]!;
    expect([method, params]).toEqual(['sampling/createMessage', { messages: [1] }]);
    calls[0]!.caller!.requests[0]!.answer({ role: 'assistant' });
    await flushPromises();
    expect(transport.replyTo('q')?.result).toEqual({ role: 'assistant' });
  });

  it('is refused when it may be for several clients', async () => {
    const { transport, calls } = await linkWithCalls(['a', 'b']);
    transport.request(1, 'elicitation/create', {});
    await flushPromises();
    expect(calls.map(hasServerRequest)).toEqual([false, false]);
    expect(transport.replyTo(1)?.error?.message).toContain('isolation');
  });

  it('is refused when a request of the gateway caused it, although one client calls', async () => {
    const { transport, calls } = await linkWithCalls(['a', '-']);
    transport.request(9, 'elicitation/create', {}, calls[1]!.id);
    await flushPromises();
    expect(calls.map(hasServerRequest)).toEqual([false, false]);
    expect(transport.replyTo(9)?.error).toBeDefined();
  });

  it('is cancelled when its call is answered, with an error to the server', async () => {
    const { transport, calls } = await linkWithCalls(['a']);
    transport.request('q', 'elicitation/create', {});
    transport.answer(calls[0]!.id, {});
    expect(calls[0]!.caller!.requests[0]!.options.signal.aborted).toBe(true);
    await flushPromises();
    expect(transport.replyTo('q')?.error).toBeDefined();
  });

  it('is cancelled when its call is cancelled', async () => {
    const { transport, calls } = await linkWithCalls(['a']);
    transport.request('q', 'elicitation/create', {});
    calls[0]!.caller!.cancel();
    expect(calls[0]!.caller!.requests[0]!.options.signal.aborted).toBe(true);
    await flushPromises();
    expect(transport.replyTo('q')?.error).toBeDefined();
  });

  it('stays open while one of the calls that may have caused it is pending', async () => {
    const { transport, calls } = await linkWithCalls(['a', 'a']);
    transport.request('q', 'elicitation/create', {});
    const { signal } = calls[1]!.caller!.requests[0]!.options;
    transport.answer(calls[1]!.id, {});
    expect(signal.aborted).toBe(false);
    transport.answer(calls[0]!.id, {});
    expect(signal.aborted).toBe(true);
  });

  it('is for the latest call of its client', async () => {
    const { transport, link, calls } = await linkWithCalls(['a']);
    let [latest] = calls as [(typeof calls)[number]];
    for (let n = 0; n < 100; n++) {
      const next = request(transport, link, latest.caller!.session.call());
      transport.request(`q${n}`, 'elicitation/create', {});
      expect([hasServerRequest(latest), hasServerRequest(next)]).toEqual([n > 0, true]);
      transport.answer(latest.id, {});
      latest = next;
    }
  });

  it('gets no response after the server has cancelled it', async () => {
    const { transport, calls } = await linkWithCalls(['a']);
    transport.request('q', 'elicitation/create', {});
    transport.notify('notifications/cancelled', { requestId: 'q' });
    expect(calls[0]!.caller!.requests[0]!.options.signal.aborted).toBe(true);
    await flushPromises();
    expect(transport.replyTo('q')).toBeUndefined();
  });

  it('is cancelled when the link closes', async () => {
    const { transport, calls } = await linkWithCalls(['a']);
    transport.request('q', 'elicitation/create', {});
    transport.disconnect();
    expect(calls[0]!.caller!.requests[0]!.options.signal.aborted).toBe(true);
  });
});
