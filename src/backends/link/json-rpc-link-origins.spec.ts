import { describe, expect, it } from '@jest/globals';
import { FakeClient, outcomeOf, settled, type FakeCaller } from '../../../test/kit/fake-link.js';
import { linkTo, type ScriptedTransport } from '../../../test/kit/scripted-transport.js';
import type { JsonRpcLink, LinkOptions } from './json-rpc-link.js';
import type { ServerNotification } from './link.js';

/** A link with a call of each of these clients in flight, in their order; `-` is a request of the gateway's own. */
async function linkWithCalls(clients: readonly string[], options: Partial<LinkOptions> = {}) {
  const { transport, link } = await linkTo({}, options);
  const byName = new Map<string, FakeClient>();
  const calls = clients.map((name) => {
    if (name === '-') return request(transport, link, undefined);
    const client = byName.get(name) ?? new FakeClient(name);
    byName.set(name, client);
    return request(transport, link, client.call());
  });
  const heard: ServerNotification[] = [];
  link.onNotification((notification) => heard.push(notification));
  return { transport, link, calls, heard };
}

function request(transport: ScriptedTransport, link: JsonRpcLink, caller: FakeCaller | undefined) {
  const outcome = outcomeOf(link.request({ method: 'x', caller, timeoutMs: 1000 }));
  return { caller, outcome, id: transport.all('x').at(-1)!.id! };
}

const isAsked = (call: { caller: FakeCaller | undefined }): boolean =>
  (call.caller?.questions.length ?? 0) > 0;

describe('what a server says', () => {
  /** The calls in flight, the stream it comes on (an index of them), and whose it is taken for. */
  it.each([
    [[], undefined, 'nobody'],
    [['-'], undefined, 'nobody'],
    [['a'], undefined, 0],
    [['-', 'a'], undefined, 1],
    [['a', 'a'], undefined, 1],
    [['a', 'b'], undefined, 'anybody'],
    [['a', 'b', 'a'], undefined, 'anybody'],
    [['a', 'b'], 0, 0],
    [['a', 'b'], 1, 1],
    [['a', 'a', 'b'], 0, 0],
    [['a', '-'], 1, 'nobody'],
    [['a'], 'over', 'anybody'],
    [[], 'over', 'anybody'],
  ] as const)('during calls of %j, on the stream of %s, belongs to %s', async (clients, stream, owner) => {
    const { transport, calls, heard } = await linkWithCalls(clients);
    const requestId = stream === 'over' ? 999 : stream === undefined ? undefined : calls[stream]!.id;
    transport.notify('notifications/message', { level: 'info' }, requestId);
    expect(heard[0]?.channel).toBe(typeof owner === 'number' ? calls[owner]?.caller : undefined);
    expect(heard[0]?.ambiguous).toBe(owner === 'anybody');
  });

  it('on the stream of a call that is over does not reach the one client that is still calling', async () => {
    const { transport, calls, heard } = await linkWithCalls(['a', 'b']);
    transport.answer(calls[0]!.id, {});
    transport.notify('notifications/message', { level: 'info', data: 'secret of a' }, calls[0]!.id);
    expect(heard[0]).toMatchObject({ channel: undefined, ambiguous: true });
  });

  it.each([
    ['another client is the only one that calls', ['a', 'b'], { channel: undefined, ambiguous: true }],
    ['nobody calls', ['a'], { channel: undefined, ambiguous: true }],
  ] as const)('of a call that was cancelled reaches nobody else when %s', async (_what, clients, origin) => {
    const { transport, calls, heard } = await linkWithCalls(clients);
    calls[0]!.caller!.cancel();
    transport.notify('notifications/message', { level: 'info', data: 'secret of a' });
    expect(heard[0]).toMatchObject(origin);
    const questions = calls.map(isAsked);
    transport.ask('q', 'sampling/createMessage', {});
    expect(calls.map(isAsked)).toEqual(questions);
  });

  it('of a call that was cancelled still reaches its own client, while that one calls', async () => {
    const { transport, calls, heard } = await linkWithCalls(['a', 'a']);
    calls[0]!.caller!.cancel();
    transport.notify('notifications/message', { level: 'info', data: 'secret of a' });
    expect(heard[0]?.channel).toBe(calls[1]!.caller);
  });

  it('is taken for what it seems again once the cancelled call was answered after all', async () => {
    const { transport, calls, heard } = await linkWithCalls(['a', 'b']);
    calls[0]!.caller!.cancel();
    transport.answer(calls[0]!.id, {});
    transport.notify('notifications/message', { level: 'info' });
    expect(heard[0]?.channel).toBe(calls[1]!.caller);
  });

  it('belongs to the owner of the link where it has one', async () => {
    const owner = new FakeClient('a');
    const { transport, calls, heard } = await linkWithCalls([], { owner });
    transport.notify('notifications/message', {});
    transport.notify('notifications/message', {}, 999);
    expect(heard.map(({ channel }) => channel)).toEqual([owner, owner]);
    expect(calls).toEqual([]);
  });
});

describe('a question of a server', () => {
  it('reaches the client whose call caused it, and nobody else', async () => {
    const { transport, calls } = await linkWithCalls(['a', 'b']);
    transport.ask('q', 'sampling/createMessage', { messages: [1] }, calls[0]!.id);
    expect(calls.map(isAsked)).toEqual([true, false]);
    expect(calls[0]!.caller!.questions[0]).toMatchObject({
      method: 'sampling/createMessage',
      params: { messages: [1] },
    });
    calls[0]!.caller!.questions[0]!.answer({ role: 'assistant' });
    await settled();
    expect(transport.replyTo('q')?.result).toEqual({ role: 'assistant' });
  });

  it('is refused where it could belong to several clients', async () => {
    const { transport, calls } = await linkWithCalls(['a', 'b']);
    transport.ask(1, 'elicitation/create', {});
    await settled();
    expect(calls.map(isAsked)).toEqual([false, false]);
    expect(transport.replyTo(1)?.error?.message).toContain('isolation');
  });

  it('is refused where it belongs to a request of the gateway, though one client is calling', async () => {
    const { transport, calls } = await linkWithCalls(['a', '-']);
    transport.ask(9, 'elicitation/create', {}, calls[1]!.id);
    await settled();
    expect(calls.map(isAsked)).toEqual([false, false]);
    expect(transport.replyTo(9)?.error).toBeDefined();
  });

  it('is withdrawn when its call is answered, and the server is told', async () => {
    const { transport, calls } = await linkWithCalls(['a']);
    transport.ask('q', 'elicitation/create', {});
    transport.answer(calls[0]!.id, {});
    expect(calls[0]!.caller!.questions[0]!.options.signal.aborted).toBe(true);
    await settled();
    expect(transport.replyTo('q')?.error).toBeDefined();
  });

  it('is withdrawn when its call is cancelled', async () => {
    const { transport, calls } = await linkWithCalls(['a']);
    transport.ask('q', 'elicitation/create', {});
    calls[0]!.caller!.cancel();
    expect(calls[0]!.caller!.questions[0]!.options.signal.aborted).toBe(true);
    await settled();
    expect(transport.replyTo('q')?.error).toBeDefined();
  });

  it('stays as long as one of the calls of its client that may have caused it', async () => {
    const { transport, calls } = await linkWithCalls(['a', 'a']);
    transport.ask('q', 'elicitation/create', {});
    const { signal } = calls[1]!.caller!.questions[0]!.options;
    transport.answer(calls[1]!.id, {});
    expect(signal.aborted).toBe(false);
    transport.answer(calls[0]!.id, {});
    expect(signal.aborted).toBe(true);
  });

  it('is for the latest call of its client, wherever that stands in the table', async () => {
    const { transport, link, calls } = await linkWithCalls(['a']);
    let [latest] = calls as [(typeof calls)[number]];
    for (let n = 0; n < 100; n++) {
      const next = request(transport, link, latest.caller!.session.call());
      transport.ask(`q${n}`, 'elicitation/create', {});
      expect([isAsked(latest), isAsked(next)]).toEqual([n > 0, true]);
      transport.answer(latest.id, {});
      latest = next;
    }
  });

  it('gets no answer after the server has taken it back', async () => {
    const { transport, calls } = await linkWithCalls(['a']);
    transport.ask('q', 'elicitation/create', {});
    transport.notify('notifications/cancelled', { requestId: 'q' });
    expect(calls[0]!.caller!.questions[0]!.options.signal.aborted).toBe(true);
    await settled();
    expect(transport.replyTo('q')).toBeUndefined();
  });

  it('is withdrawn when the link ends', async () => {
    const { transport, calls } = await linkWithCalls(['a']);
    transport.ask('q', 'elicitation/create', {});
    transport.hangUp();
    expect(calls[0]!.caller!.questions[0]!.options.signal.aborted).toBe(true);
  });
});
