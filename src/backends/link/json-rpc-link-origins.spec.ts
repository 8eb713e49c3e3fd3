import { describe, expect, it } from '@jest/globals';
import { FakeClient, type FakeCaller } from '../../../test/kit/fake-client.js';
import { outcomeOf, flushPromises } from '../../../test/kit/promises.js';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import { linkTo, type FakeTransport, type TransportScript } from '../../../test/kit/fake-transport.js';
import { ORIGIN_GRACE_MS } from './ended-calls.js';
import type { JsonRpcLink } from './json-rpc-link.js';
import type { LinkOptions } from './link-options.js';
import type { ServerNotification } from './link.js';

/** The server sends its responses and all other messages on one stream, as over stdio. */
const ORDERED: TransportScript = { hasOneStream: true };

/**
 * A link with a call of each of these clients in flight, in their order; `-` is a request of the gateway itself. The first
 * letter of a client is its principal.
 */
async function linkWithCalls(
  clients: readonly string[],
  options: Partial<LinkOptions> = {},
  script: TransportScript = {},
) {
  const unattributed: string[] = [];
  const onUnattributed = (message: string): void => void unattributed.push(message);
  const { transport, link } = await linkTo(script, { onUnattributed, ...options });
  const byName = new Map<string, FakeClient>();
  const calls = clients.map((name) => {
    if (name === '-') return request(transport, link, undefined);
    const client = byName.get(name) ?? new FakeClient(name, {}, name[0]);
    byName.set(name, client);
    return request(transport, link, client.call());
  });
  const received: ServerNotification[] = [];
  link.onNotification((notification) => received.push(notification));
  return { transport, link, calls, received, unattributed };
}

function request(transport: FakeTransport, link: JsonRpcLink, caller: FakeCaller | undefined) {
  const outcome = outcomeOf(link.request({ method: 'x', caller, timeoutMs: 60_000 }));
  return { caller, outcome, id: transport.all('x').at(-1)!.id! };
}

useFakeTime();

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
    const { transport, calls, received, unattributed } = await linkWithCalls(clients);
    const requestId = stream === 'finished' ? 999 : stream === undefined ? undefined : calls[stream]!.id;
    transport.notify('notifications/message', { level: 'info' }, requestId);
    const channel = typeof owner === 'number' ? calls[owner]?.caller : undefined;
    expect(received.map((notification) => notification.channel)).toEqual(
      owner === 'any call' ? [] : [channel],
    );
    expect(unattributed).toEqual(owner === 'any call' ? ['message'] : []);
  });

  it.each([
    'notifications/resources/updated',
    'notifications/resources/list_changed',
    'notifications/tools/list_changed',
    'notifications/prompts/list_changed',
  ])('%s is processed during calls of several clients', async (method) => {
    const { transport, received, unattributed } = await linkWithCalls(['a', 'b']);
    transport.notify(method, { uri: 'x:1' });
    expect(received).toMatchObject([{ method, channel: undefined }]);
    expect(unattributed).toEqual([]);
  });

  it('on the stream of a finished call does not reach the only other calling client', async () => {
    const { transport, calls, received, unattributed } = await linkWithCalls(['a', 'b']);
    transport.answer(calls[0]!.id, {});
    transport.notify('notifications/message', { level: 'info', data: 'secret of a' }, calls[0]!.id);
    expect([received, unattributed]).toEqual([[], ['message']]);
  });

  it('about the progress of a finished call is dropped and counted', async () => {
    const { transport, calls, unattributed } = await linkWithCalls(['a']);
    transport.answer(calls[0]!.id, {});
    transport.notify('notifications/progress', { progressToken: calls[0]!.id, progress: 1 });
    expect([calls[0]!.caller!.notifications, unattributed]).toEqual([[], ['progress']]);
  });

  it.each([
    ['only another client calls', ['a', 'b']],
    ['no client calls', ['a']],
  ] as const)('of a cancelled call reaches no other client when %s', async (_what, clients) => {
    const { transport, calls, received, unattributed } = await linkWithCalls(clients, {}, ORDERED);
    calls[0]!.caller!.cancel();
    transport.notify('notifications/message', { level: 'info', data: 'secret of a' });
    transport.request('q', 'sampling/createMessage', {});
    expect(received).toEqual([]);
    expect(calls.map(hasServerRequest)).toEqual(calls.map(() => false));
    expect(unattributed).toEqual(['message', 'request']);
  });

  it.each([
    ['a second has passed', (_client: FakeClient): Promise<void> => advanceTime(ORIGIN_GRACE_MS)],
    ['its session has ended', async (client: FakeClient): Promise<void> => client.close()],
  ])('is for the only calling client again after a call was cancelled and %s', async (_what, end) => {
    const { transport, calls, received } = await linkWithCalls(['a', 'b'], {}, ORDERED);
    calls[0]!.caller!.cancel();
    await end(calls[0]!.caller!.session);
    transport.notify('notifications/message', { level: 'info' });
    transport.request('q', 'elicitation/create', {});
    expect(received.map(({ channel }) => channel)).toEqual([calls[1]!.caller]);
    expect(hasServerRequest(calls[1]!)).toBe(true);
  });

  it('of a cancelled call reaches its own client while that client calls', async () => {
    const { transport, calls, received } = await linkWithCalls(['a', 'a']);
    calls[0]!.caller!.cancel();
    transport.notify('notifications/message', { level: 'info', data: 'secret of a' });
    expect(received[0]?.channel).toBe(calls[1]!.caller);
  });

  it.each([
    [['a1', 'a2'], 1],
    [['a', 'b'], 0],
  ] as const)(
    'of a cancelled call of the first of %j is for the other (%i) when the server has responded to that call',
    async (clients, count) => {
      const { transport, calls, received } = await linkWithCalls(clients, {}, ORDERED);
      calls[0]!.caller!.cancel();
      transport.answer(calls[0]!.id, {});
      for (const { id } of transport.all('ping')) transport.answer(id, {});
      transport.notify('notifications/message', { level: 'info' });
      const channels = received.map(({ channel }) => channel);
      expect(channels).toEqual([calls[1]!.caller].slice(0, count));
    },
  );

  it('is for the owner of the link', async () => {
    const owner = new FakeClient('a');
    const { transport, calls, received } = await linkWithCalls([], { owner });
    transport.notify('notifications/message', {});
    transport.notify('notifications/message', {}, 999);
    expect(received.map(({ channel }) => channel)).toEqual([owner, owner]);
    expect(calls).toEqual([]);
  });
});

async function afterCalls(
  ended: readonly string[],
  inFlight: readonly string[],
  script: TransportScript = {},
) {
  const harness = await linkWithCalls([...ended, ...inFlight], {}, script);
  const { transport, calls } = harness;
  for (const { id } of calls.slice(0, ended.length)) transport.answer(id, {});
  return {
    ...harness,
    /** Whom a log message reaches, and whether a request reaches a client. */
    outcome: (): [message: string, hasRequest: boolean] => {
      harness.received.length = 0;
      transport.notify('notifications/message', { level: 'info' });
      transport.request('q', 'sampling/createMessage', {});
      const [notification] = harness.received;
      const owner = calls.find(({ caller }) => caller && caller === notification?.channel)?.caller;
      const message = notification ? (owner?.session.id ?? 'all clients') : 'no client';
      return [message, calls.some(hasServerRequest)];
    },
  };
}

describe('JsonRpcLink after a call has ended', () => {
  /** Clients whose calls ended, in their order; clients of the calls in flight; who a message is for. */
  const ENDED_CALLS = [
    [['a'], [], 'no client'],
    [['a'], ['a'], 'a'],
    [['a'], ['b'], 'no client'],
    [['a1'], ['a2'], 'no client'],
    [['a', 'b'], ['b'], 'no client'],
    [['b', 'a'], ['b'], 'no client'],
    [['a', 'b', 'b'], ['b'], 'no client'],
    [['-'], [], 'all clients'],
    [['-', 'b'], ['b'], 'b'],
  ] as const;

  it.each(ENDED_CALLS)(
    'of %j, with calls of %j in flight, a message on the notification stream is for %s within the grace',
    async (ended, inFlight, owner) => {
      const { outcome, unattributed } = await afterCalls(ended, inFlight);
      await advanceTime(ORIGIN_GRACE_MS - 1);
      const isOfOne = owner.length === 1;
      expect(outcome()).toEqual([owner, isOfOne]);
      const requests = isOfOne ? [] : ['request'];
      expect(unattributed).toEqual(owner === 'no client' ? ['message', 'request'] : requests);
    },
  );

  it.each([
    [['a'], [], 'all clients'],
    [['a', 'b'], ['b'], 'b'],
    [['b', 'a'], ['b'], 'b'],
  ] as const)(
    'of %j, with calls of %j in flight, a message is for %s after the grace',
    async (ended, inFlight, owner) => {
      const { outcome } = await afterCalls(ended, inFlight);
      await advanceTime(ORIGIN_GRACE_MS);
      expect(outcome()).toEqual([owner, owner === 'b']);
    },
  );

  it.each([
    [['a'], [], 'no client'],
    [['a', 'b'], ['b'], 'no client'],
    [['b', 'a'], ['b'], 'no client'],
    [['b'], ['b'], 'b'],
    [['-'], [], 'all clients'],
  ] as const)(
    'of %j, with calls of %j in flight, a message is for %s while the stream is read late, and a second longer',
    async (ended, inFlight, owner) => {
      const { transport, outcome } = await afterCalls(ended, inFlight);
      for (let pause = 0; pause < 60; pause++) {
        await advanceTime(50);
        transport.inbound!.expectMessagesSince(performance.now());
      }
      await advanceTime(ORIGIN_GRACE_MS - 1);
      expect(outcome()[0]).toBe(owner);
      await advanceTime(1);
      expect(outcome()[0]).toBe(inFlight[0] ?? 'all clients');
    },
  );

  /** How long before the interruption of the stream the call of `a` ended; how long after its opening the message comes. */
  it.each([
    [ORIGIN_GRACE_MS - 1, ORIGIN_GRACE_MS - 1, 'no client'],
    [ORIGIN_GRACE_MS - 1, ORIGIN_GRACE_MS, 'all clients'],
    [ORIGIN_GRACE_MS, 0, 'all clients'],
  ])(
    'of a %i ms before the stream was interrupted, a message %i ms after its opening is for %s',
    async (beforeMs, afterMs, owner) => {
      const { transport, outcome } = await afterCalls(['a'], []);
      await advanceTime(beforeMs);
      const interruptedAt = performance.now();
      await advanceTime(60_000);
      transport.inbound!.expectMessagesSince(interruptedAt);
      await advanceTime(afterMs);
      expect(outcome()[0]).toBe(owner);
    },
  );

  it('counts a cancelled call as long as the stream is read late', async () => {
    const { transport, calls, outcome } = await afterCalls([], ['a']);
    calls[0]!.caller!.cancel();
    await advanceTime(ORIGIN_GRACE_MS - 1);
    transport.inbound!.expectMessagesSince(performance.now());
    await advanceTime(ORIGIN_GRACE_MS - 1);
    expect(outcome()[0]).toBe('no client');
  });

  /** Clients whose calls ended, in their order; clients of the calls in flight; who a message is for. */
  const ENDED_ON_ONE_STREAM = [
    [['a1'], ['a2'], 'a2'],
    [['a1', 'a2'], ['a1'], 'a1'],
    [['-'], ['b'], 'b'],
    [['a'], ['b'], 'no client'],
    [['a', 'b'], ['b'], 'no client'],
    [['b', 'a'], ['b'], 'no client'],
    [['a', 'b', 'b'], ['b'], 'no client'],
  ] as const;

  it.each(ENDED_ON_ONE_STREAM)(
    'of %j, with calls of %j in flight, a message is for %s within the grace if responses come on the same stream and pings are answered',
    async (ended, inFlight, owner) => {
      const { transport, outcome, unattributed } = await afterCalls(ended, inFlight, ORDERED);
      // The response to a ping may cause another ping.
      for (let n = 0; n < transport.all('ping').length; n++)
        transport.answer(transport.all('ping')[n]!.id, {});
      await advanceTime(ORIGIN_GRACE_MS - 1);
      const isOfOne = owner !== 'no client';
      expect(outcome()).toEqual([owner, isOfOne]);
      expect(unattributed).toEqual(isOfOne ? [] : ['message', 'request']);
      await advanceTime(1);
      expect(outcome()).toEqual([inFlight[0], true]);
    },
  );

  it('broadcasts no message within the grace, also if responses come on the same stream', async () => {
    const { outcome } = await afterCalls(['a'], [], ORDERED);
    expect(outcome()).toEqual(['no client', false]);
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

  it('outside a stream, on the link of one session, stays open when a call ends', async () => {
    const owner = new FakeClient('a');
    const { transport, link } = await linkWithCalls([], { owner });
    const call = request(transport, link, owner.call());
    transport.request('outside', 'roots/list', {});
    transport.request('inside', 'roots/list', {}, call.id);
    transport.answer(call.id, {});
    const [outside, inside] = call.caller!.requests;
    expect([outside, inside].map((sent) => sent!.options.signal.aborted)).toEqual([false, true]);
    outside!.answer({ roots: [] });
    await flushPromises();
    expect(transport.replyTo('outside')?.result).toEqual({ roots: [] });
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
