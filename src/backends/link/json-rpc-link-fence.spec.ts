import { describe, expect, it, jest } from '@jest/globals';
import { FakeClient, type FakeCaller } from '../../../test/kit/fake-client.js';
import { advanceTime, useFakeTime } from '../../../test/kit/fake-time.js';
import {
  FACTS,
  FakeTransport,
  LINK_OPTIONS,
  linkTo,
  type Sent,
  type TransportScript,
} from '../../../test/kit/fake-transport.js';
import { recordLog } from '../../../test/kit/log-lines.js';
import { flushPromises, outcomeOf } from '../../../test/kit/promises.js';
import { MODERN_VERSION } from '../../mcp/envelope.js';
import { EndedCalls, ORIGIN_GRACE_MS } from './ended-calls.js';
import { JsonRpcLink } from './json-rpc-link.js';
import { LATE_MESSAGE_MS } from './late-messages.js';
import type { LinkOptions } from './link-options.js';

const MESSAGE = 'notifications/message';
const QUIET_FACTS = { ...FACTS, capabilities: { tools: {} } };

interface SentCall {
  readonly id: number;
  readonly caller: FakeCaller;
}

/** A link with one stream for everything, which clients of one principal share. */
async function open(options: Partial<LinkOptions> = {}, script: TransportScript = {}) {
  const unattributed: string[] = [];
  const onUnattributed = (kind: string): void => void unattributed.push(kind);
  const { transport, link } = await linkTo({ hasOneStream: true, ...script }, { onUnattributed, ...options });
  const clients = new Map<string, FakeClient>();
  const broadcast: unknown[] = [];
  link.onNotification(({ channel, params }) => {
    if (channel) channel.notify(MESSAGE, undefined);
    else broadcast.push(params);
  });
  return {
    transport,
    link,
    unattributed,
    broadcast,
    call: (client: string, runsAlone = false, principal = 'p'): SentCall => {
      const fake = clients.get(client) ?? new FakeClient(client, {}, principal);
      clients.set(client, fake);
      const caller = fake.call();
      outcomeOf(link.request({ method: 'x', caller, runsAlone, timeoutMs: 600_000 }));
      return { caller, id: transport.all('x').at(-1)!.id as number };
    },
    end: ({ id }: SentCall): void => transport.answer(id, {}),
    /** Whether a log message and a request without an origin now reach the client of the call. */
    reaches: ({ caller }: SentCall): boolean => {
      const before = [caller.notifications.length, caller.requests.length];
      transport.notify(MESSAGE, { level: 'info' });
      transport.request('q', 'sampling/createMessage', {});
      const after = [caller.notifications.length, caller.requests.length];
      const isReached = after.map((count, n) => count > before[n]!);
      expect(isReached[0]).toBe(isReached[1]);
      return isReached[0]!;
    },
  };
}

/** A link whose server has sent a log message or request `afterMs` after the response to the only call. */
async function openLate(
  afterMs: number,
  options: Partial<LinkOptions> = {},
  send = (transport: FakeTransport): void => transport.notify(MESSAGE, { level: 'info' }),
) {
  const harness = await open(options);
  harness.end(harness.call('a'));
  await advanceTime(afterMs);
  send(harness.transport);
  return harness;
}

/** Whether a message reaches a client while the ended call of another client counts, although all pings were answered. */
async function reachesAfterAnother({ transport, call, end, reaches }: Awaited<ReturnType<typeof open>>) {
  await advanceTime(60 * ORIGIN_GRACE_MS);
  end(call('a'));
  const b = call('b');
  for (const { id } of transport.all('ping')) transport.answer(id, {});
  await flushPromises();
  return reaches(b);
}

function refusePing({ method }: Sent): void {
  if (method === 'ping') throw new Error('busy');
}

useFakeTime();

describe('JsonRpcLink with one stream for everything, after a call of another client of the principal', () => {
  it('attributes messages again when the server has answered a ping', async () => {
    const { transport, call, end, unattributed, reaches, broadcast } = await open();
    const [a, b] = [call('a'), call('b')];
    end(a);
    expect(transport.sent.map(({ method }) => method)).toEqual(['x', 'x', 'ping']);
    expect([reaches(b), unattributed]).toEqual([false, ['message', 'request']]);
    const [ping] = transport.all('ping');
    transport.answer(ping!.id, {});
    // The message is read together with the response, before any promise callback.
    expect(reaches(b)).toBe(true);
    expect(broadcast).toEqual([]);
  });

  it('attributes messages again when the server has refused the ping', async () => {
    const { transport, call, end, reaches } = await open();
    const [a, b] = [call('a'), call('b')];
    end(a);
    transport.refuse(transport.only('ping').id, { code: -32601, message: 'ping?' });
    expect(reaches(b)).toBe(true);
  });

  it('attributes messages again after a second when the ping is not answered, and stays open', async () => {
    const { transport, link, call, end, reaches } = await open();
    const closed = outcomeOf(link.closed);
    const [a, b] = [call('a'), call('b')];
    end(a);
    await advanceTime(ORIGIN_GRACE_MS - 1);
    expect(reaches(b)).toBe(false);
    await advanceTime(1);
    expect(reaches(b)).toBe(true);
    end(call('a'));
    expect(transport.all('ping')).toHaveLength(2);
    await link.close();
    expect(closed.value).toBeDefined();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('stays open when the ping cannot be sent', async () => {
    const { link, call, end, reaches } = await open({}, { onSend: refusePing });
    const closed = outcomeOf(link.closed);
    const [a, b] = [call('a'), call('b')];
    end(a);
    await flushPromises();
    expect([reaches(b), closed]).toEqual([false, {}]);
  });

  it('sends the next call of another client when the server has answered the ping', async () => {
    const { transport, link, call, end } = await open();
    end(call('a'));
    const b = new FakeClient('b', {}, 'p').call();
    outcomeOf(link.request({ method: 'y', caller: b, timeoutMs: 600_000 }));
    expect(transport.sent.map(({ method }) => method)).toEqual(['x', 'ping']);
    transport.answer(transport.only('ping').id, {});
    await flushPromises();
    transport.notify(MESSAGE, { level: 'info' });
    expect([transport.only('y').method, b.notifications.length]).toEqual(['y', 1]);
  });

  it('sends the next call of another client after a second when the ping is not answered, and later calls at once', async () => {
    const { transport, link, call, end } = await open();
    end(call('a'));
    const b = new FakeClient('b', {}, 'p').call();
    outcomeOf(link.request({ method: 'y', caller: b, timeoutMs: 600_000 }));
    await advanceTime(ORIGIN_GRACE_MS - 1);
    expect(transport.all('y')).toEqual([]);
    await advanceTime(1);
    transport.answer(transport.only('y').id, {});
    call('a');
    expect(transport.all('x')).toHaveLength(2);
  });

  it('sends a call at once while a call of another client is in flight', async () => {
    const { transport, call, end } = await open();
    const [a] = [call('a'), call('b')];
    end(a);
    call('c');
    expect(transport.sent.map(({ method }) => method)).toEqual(['x', 'x', 'ping', 'x']);
  });

  it('does not send a call that is cancelled while it waits for the ping', async () => {
    const { transport, link, call, end } = await open();
    end(call('a'));
    const b = new FakeClient('b', {}, 'p').call();
    const outcome = outcomeOf(link.request({ method: 'y', caller: b, timeoutMs: 600_000 }));
    b.cancel();
    transport.answer(transport.only('ping').id, {});
    await flushPromises();
    expect([outcome.error !== undefined, transport.all('y')]).toEqual([true, []]);
  });

  it('pings when the server has answered a cancelled call', async () => {
    const { transport, call, end, reaches } = await open();
    const [a, b] = [call('a'), call('b')];
    a.caller.cancel();
    end(a);
    expect(reaches(b)).toBe(false);
    transport.answer(transport.only('ping').id, {});
    expect(reaches(b)).toBe(true);
  });

  it('pings at the end of a call while a call of another client is in flight for minutes', async () => {
    const { transport, call, end } = await open();
    call('a');
    end(call('b'));
    transport.answer(transport.only('ping').id, {});
    await advanceTime(120_000);
    end(call('b'));
    expect(transport.all('ping')).toHaveLength(2);
  });

  it('counts the call longer if messages are read late', async () => {
    const { transport, call, end, reaches } = await open();
    const [a, b] = [call('a'), call('b')];
    end(a);
    await advanceTime(ORIGIN_GRACE_MS - 1);
    transport.inbound!.expectMessagesSince(performance.now());
    await advanceTime(ORIGIN_GRACE_MS - 1);
    expect(reaches(b)).toBe(false);
    await advanceTime(1);
    expect(reaches(b)).toBe(true);
  });

  it('sends no ping at the end of a call while only a client of another principal has a call in flight', async () => {
    const { transport, call, end } = await open();
    call('x', false, 'another');
    const b = call('b');
    await advanceTime(120_000);
    end(b);
    expect(transport.all('ping')).toEqual([]);
  });

  it.each([
    ['the server does not declare log messages', {}, { facts: QUIET_FACTS }, true],
    ['there is a notification stream', {}, { hasOneStream: false }, false],
    ['one session owns the link', { owner: new FakeClient('o') }, {}, true],
  ] as const)('sends no ping if %s', async (_why, options, script, isReached) => {
    const { transport, call, end, reaches } = await open(options, script);
    const [a, b] = [call('a'), call('b')];
    end(a);
    end(call('a'));
    expect(reaches(b)).toBe(isReached);
    expect(transport.all('ping')).toEqual([]);
  });

  it('sends no ping between calls that run alone, and attributes their messages at once', async () => {
    const { transport, call, end, reaches } = await open();
    for (const client of ['a', 'b', 'a']) {
      const sent = call(client, true);
      expect(reaches(sent)).toBe(true);
      end(sent);
    }
    expect(transport.all('ping')).toEqual([]);
    expect(reaches(call('b'))).toBe(false);
  });

  it('pings a server of 2026 with server/discover', async () => {
    const result = { supportedVersions: [MODERN_VERSION], capabilities: { logging: {} } };
    const transport: FakeTransport = new FakeTransport({
      hasOneStream: true,
      onSend: ({ id, method }): void => {
        if (method === 'server/discover' && transport.all('x').length === 0) transport.answer(id, result);
      },
    });
    const options = { ...LINK_OPTIONS, opening: 'discover' } as const;
    const link = await JsonRpcLink.connect(transport, options, new AbortController().signal);
    const received: unknown[] = [];
    link.onNotification(({ channel }) => received.push(channel));
    const [a, b] = ['a', 'b'].map((name) => new FakeClient(name, {}, 'p').call());
    for (const caller of [a, b]) outcomeOf(link.request({ method: 'x', caller, timeoutMs: 600_000 }));
    transport.answer(transport.all('x')[0]!.id, { resultType: 'complete' });
    transport.notify(MESSAGE, { level: 'info' });
    expect(received).toEqual([]);
    const [, ping, ...others] = transport.all('server/discover');
    transport.answer(ping!.id, result);
    transport.notify(MESSAGE, { level: 'info' });
    expect([received, others]).toEqual([[b], []]);
  });
});

describe('JsonRpcLink to a server that sends a message after its response while no request is in flight', () => {
  it.each([
    ['a log message', undefined],
    ['a request', (transport: FakeTransport) => transport.request('q', 'elicitation/create', {})],
  ])('drops messages for a second after a call of another client from then on (%s)', async (_what, send) => {
    const harness = await openLate(LATE_MESSAGE_MS - 1, {}, send);
    expect(await reachesAfterAnother(harness)).toBe(false);
    expect(harness.transport.all('ping')).toEqual([]);
    await advanceTime(ORIGIN_GRACE_MS);
    expect(harness.reaches(harness.call('b'))).toBe(true);
  });

  it.each([
    ['longer after', LATE_MESSAGE_MS, undefined],
    ['a ping', 0, (transport: FakeTransport) => transport.request('q', 'ping')],
    ['an update', 0, (transport: FakeTransport) => transport.notify('notifications/resources/updated', {})],
  ])('attributes messages as before after %s', async (_what, afterMs, send) => {
    expect(await reachesAfterAnother(await openLate(afterMs, {}, send))).toBe(true);
  });

  it('attributes messages as before if a request was in flight or a call was abandoned', async () => {
    const harness = await open();
    const { transport, link, call, end } = harness;
    end(call('a'));
    outcomeOf(link.request({ method: 'tools/list', timeoutMs: 600_000 }));
    transport.notify(MESSAGE, { level: 'info' });
    transport.answer(transport.only('tools/list').id, {});
    const cancelled = call('a');
    end(call('a'));
    cancelled.caller.cancel();
    transport.notify(MESSAGE, { level: 'info' });
    expect(await reachesAfterAnother(harness)).toBe(true);
  });

  it('detects it beside a listen stream of the gateway', async () => {
    const harness = await open();
    outcomeOf(harness.link.request({ method: 'subscriptions/listen', timeoutMs: Infinity }));
    harness.end(harness.call('a'));
    harness.transport.notify(MESSAGE, { level: 'info' });
    expect(await reachesAfterAnother(harness)).toBe(false);
  });

  it('drops messages on the next link to the server too, and logs one warning', async () => {
    const lines = recordLog();
    const endedCalls = new EndedCalls();
    await openLate(0, { endedCalls });
    const next = await openLate(0, { endedCalls });
    expect(await reachesAfterAnother(next)).toBe(false);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 'warn',
        message: 'the server sends messages after its responses',
        cause: expect.stringContaining('isolation: session'),
      },
    ]);
  });

  it('drops messages also if the server does not declare log messages', async () => {
    const harness = await open({}, { facts: QUIET_FACTS });
    harness.end(harness.call('a'));
    harness.transport.request('q', 'elicitation/create', {});
    expect(await reachesAfterAnother(harness)).toBe(false);
  });

  it('logs nothing on a link with a notification stream, whose messages may come after the response', async () => {
    const lines = recordLog();
    const { transport, call, end } = await open({}, { hasOneStream: false });
    end(call('a'));
    transport.notify(MESSAGE, { level: 'info' });
    expect(lines).toEqual([]);
  });

  it('logs nothing on the link of one session, whose messages all reach that session', async () => {
    const lines = recordLog();
    const owner = new FakeClient('o');
    await openLate(0, { owner });
    expect([lines, owner.notifications.length]).toEqual([[], 1]);
  });
});
