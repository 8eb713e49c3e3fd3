import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { FakeClient } from '../../../test/kit/fake-client.js';
import { outcomeOf, refusalOf, flushPromises } from '../../../test/kit/promises.js';
import { FACTS, LINK_OPTIONS, linkTo, FakeTransport, type Sent } from '../../../test/kit/fake-transport.js';
import { RemoteError } from '../../core/errors.js';
import { JsonDocument } from '../../lib/json-text/json-document.js';
import { JsonProblem } from '../../lib/json-text/json-reader.js';
import { JsonRpcLink } from './json-rpc-link.js';
import { ConnectError, type ServerNotification } from './link.js';
import { TransportError, type TransportFault } from './transport.js';

const faultOf = (error: Error): TransportFault | undefined =>
  error instanceof TransportError ? error.fault : undefined;

/** A call and its outcome. */
function call(link: JsonRpcLink, params = '{}') {
  const caller = new FakeClient('a').call();
  const outcome = outcomeOf(link.request({ method: 'tools/call', params, caller, timeoutMs: 1000 }));
  return { caller, outcome };
}

describe('JsonRpcLink.connect', () => {
  it('sends initialize and initialized, and then opens the notification stream', async () => {
    const { transport, link } = await linkTo();
    expect(transport.handshake.map(({ method }) => method)).toEqual([
      'initialize',
      'notifications/initialized',
    ]);
    expect(transport.handshake[0]?.params).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { sampling: {} },
      clientInfo: { name: 'gatehouse', version: '9.9' },
    });
    expect(transport.protocolVersion).toBe('2025-11-25');
    expect(transport.hasNotificationStream).toBe(true);
    expect(link.facts).toEqual(FACTS);
  });

  it.each(['2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'])(
    'accepts the older revision %s of the server',
    async (protocolVersion) => {
      const { transport, link } = await linkTo({ facts: { ...FACTS, protocolVersion } });
      expect(transport.protocolVersion).toBe(protocolVersion);
      expect(link.facts.protocolVersion).toBe(protocolVersion);
    },
  );

  it('treats missing capabilities as none', async () => {
    const { link } = await linkTo({ facts: { protocolVersion: '2025-11-25', serverInfo: {} } });
    expect(link.facts.capabilities).toEqual({});
  });
});

describe('JsonRpcLink.connect, failing', () => {
  it.each([
    ['an unknown revision', { ...FACTS, protocolVersion: '1999-01-01' }],
    ['no revision at all', {}],
  ])('rejects %s and closes the transport', async (_what, facts) => {
    const transport = new FakeTransport({ facts });
    const error = await refusalOf(JsonRpcLink.connect(transport, LINK_OPTIONS, new AbortController().signal));
    expect(error).toBeInstanceOf(ConnectError);
    expect(faultOf(error.cause as Error)).toBe('refused');
    expect(transport.closes).toBe(1);
    expect(transport.handshake).toHaveLength(1);
  });

  it('rejects with the stderr of the child process', async () => {
    const transport = new FakeTransport({
      start: () => Promise.reject(new TransportError('unreachable', 'exited')),
    });
    transport.stderr.push('no API key');
    const error = await refusalOf(JsonRpcLink.connect(transport, LINK_OPTIONS, new AbortController().signal));
    expect(error).toMatchObject({ message: 'exited', stderr: ['no API key'] });
    expect(transport.closes).toBe(1);
  });

  it('rejects with the error of the server', async () => {
    const transport = new FakeTransport({ facts: null });
    const connecting = JsonRpcLink.connect(transport, LINK_OPTIONS, new AbortController().signal);
    await flushPromises();
    transport.refuse(transport.handshake[0]!.id, { code: -32600, message: 'not you' });
    const error = await refusalOf(connecting);
    expect(error).toMatchObject({ message: 'not you', cause: { code: -32600 } });
  });

  it('closes the transport when it is aborted', async () => {
    const transport = new FakeTransport({ facts: null });
    const aborted = new AbortController();
    const connecting = refusalOf(JsonRpcLink.connect(transport, LINK_OPTIONS, aborted.signal));
    await flushPromises();
    aborted.abort();
    expect((await connecting).message).toBe('the link was closed');
    expect(transport.closes).toBeGreaterThan(0);
    expect(transport.sent).toEqual([]);
  });

  it('does not start the transport when it is aborted already', async () => {
    const transport = new FakeTransport();
    await refusalOf(JsonRpcLink.connect(transport, LINK_OPTIONS, AbortSignal.abort()));
    expect(transport.starts).toBe(0);
  });
});

describe('JsonRpcLink.request', () => {
  it('sends requests under ids of the link', async () => {
    const { transport, link } = await linkTo();
    const calls = [call(link, '{"n":1}'), call(link, '{"n":2}'), call(link, '{"n":3}')];
    const ids = transport.all('tools/call').map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    for (const sent of transport.all('tools/call').toReversed()) transport.answer(sent.id, sent.params);
    await flushPromises();
    expect(calls.map(({ outcome }) => outcome.value?.text)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}']);
  });

  it('matches responses in any order to their requests', async () => {
    const orders = fc
      .integer({ min: 1, max: 20 })
      .chain((count) => fc.shuffledSubarray([...Array(count).keys()], { minLength: count }));
    await fc.assert(
      fc.asyncProperty(orders, async (order) => {
        const { transport, link } = await linkTo();
        const calls = order.map((_, n) => call(link, `{"n":${n}}`));
        const sent = transport.all('tools/call');
        for (const index of order) transport.answer(sent[index]!.id, sent[index]!.params);
        await flushPromises();
        expect(calls.map(({ outcome }) => outcome.value?.text)).toEqual(calls.map((_, n) => `{"n":${n}}`));
      }),
      { numRuns: 30 },
    );
  });

  it('sends params unchanged except for the progress token', async () => {
    const { transport, link } = await linkTo();
    const params = '{ "big":12345678901234567890, "f":1.0,"_meta":{"x":"\\u00e9","progressToken":"mine"} }';
    call(link, params);
    const { id, text } = transport.only('tools/call');
    expect(text).toContain(`"params":${params.replace('"mine"', String(id))}`);
  });

  it.each(['"mine"', '7', '"1"'])('passes on progress under the token %s of the client', async (token) => {
    const { transport, link } = await linkTo();
    const { caller } = call(link, `{"_meta":{"progressToken":${token}}}`);
    const progressToken = transport.only('tools/call').params?.['_meta'] as object;
    transport.notify('notifications/progress', { ...progressToken, progress: 1, x: 'y' });
    expect(caller.notifications).toEqual([
      {
        method: 'notifications/progress',
        params: { progressToken: JSON.parse(token), progress: 1, x: 'y' },
      },
    ]);
  });

  it('passes on no progress to a client without a token, or of another request', async () => {
    const { transport, link } = await linkTo();
    const withoutToken = call(link);
    const withToken = call(link, '{"_meta":{"progressToken":1}}');
    const [first] = transport.all('tools/call');
    transport.notify('notifications/progress', { progressToken: first!.id, progress: 1 });
    transport.notify('notifications/progress', { progressToken: 999, progress: 1 });
    transport.notify('notifications/progress');
    expect([...withoutToken.caller.notifications, ...withToken.caller.notifications]).toEqual([]);
  });

  it('resolves with the result byte for byte', async () => {
    const { transport, link } = await linkTo();
    const { outcome } = call(link);
    const result = '{ "n":12345678901234567890,"f":1.0, "e":"\\u00e9" }';
    transport.receiveText(
      `{"result":${result},"id":${transport.only('tools/call').id as number},"jsonrpc":"2.0"}`,
    );
    await flushPromises();
    expect(outcome.value?.text).toBe(result);
  });

  it('rejects with the error of the server byte for byte', async () => {
    const { transport, link } = await linkTo();
    const { outcome } = call(link);
    const error = '{ "code":-32042,"message":"log in", "data":{"n":1.0} }';
    transport.receiveText(
      `{"jsonrpc":"2.0","id":${transport.only('tools/call').id as number},"error":${error}}`,
    );
    await flushPromises();
    expect(outcome.error).toBeInstanceOf(RemoteError);
    expect(outcome.error).toMatchObject({ code: -32042, message: 'log in', text: error });
  });

  it('resolves also when the transport passes no text', async () => {
    const { transport, link } = await linkTo();
    const { outcome } = call(link);
    transport.onmessage?.({ jsonrpc: '2.0', id: transport.only('tools/call').id!, result: { a: 1 } });
    await flushPromises();
    expect(outcome.value?.text).toBe('{"a":1}');
  });

  it.each([
    ['an error of null', '"error":null'],
    ['an error without code and message', '"error":{}'],
    ['an error whose code is a string', '"error":{"code":"no","message":"no"}'],
    ['neither result nor error', '"x":1'],
    ['both result and error', '"result":{},"error":{"code":1,"message":"x"}'],
    ['a result of null', '"result":null'],
    ['a result that is a list', '"result":[]'],
  ])('rejects at once when the server answers with %s', async (_what, member) => {
    const { transport, link } = await linkTo();
    const { outcome, caller } = call(link);
    transport.receiveText(`{"jsonrpc":"2.0","id":${transport.only('tools/call').id as number},${member}}`);
    await flushPromises();
    expect(faultOf(outcome.error!)).toBe('broken');
    expect(caller.abortListeners).toBe(0);
  });

  it('ignores a response to no request and a second response', async () => {
    const { transport, link } = await linkTo();
    const { outcome } = call(link);
    const { id } = transport.only('tools/call');
    transport.answer(999, {});
    transport.answer(String(id), {});
    expect(outcome.value).toBeUndefined();
    transport.answer(id, { n: 1 });
    transport.answer(id, { n: 2 });
    await flushPromises();
    expect(outcome.value?.text).toBe('{"n":1}');
  });
});

describe('JsonRpcLink with an arbitrary server', () => {
  const jsonRpc = fc.record(
    {
      jsonrpc: fc.constantFrom('2.0', '1.0'),
      id: fc.oneof(fc.nat(3), fc.string(), fc.constant(null), fc.double(), fc.object()),
      method: fc.oneof(
        fc.constantFrom(
          'ping',
          'notifications/progress',
          'notifications/cancelled',
          'elicitation/create',
          'x',
        ),
        fc.jsonValue(),
      ),
      params: fc.jsonValue(),
      result: fc.jsonValue(),
      error: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );

  it('neither throws nor sends an invalid JSON-RPC response', async () => {
    const { transport, link } = await linkTo();
    call(link, '{"_meta":{"progressToken":1}}');
    fc.assert(fc.property(jsonRpc, (message) => transport.receiveText(JSON.stringify(message))));
    await flushPromises();
    const replies = transport.sent.filter(({ method }) => method === undefined);
    for (const { id, result, error } of replies) {
      expect(typeof id === 'string' || Number.isInteger(id)).toBe(true);
      expect([result, error].filter((member) => member !== undefined)).toHaveLength(1);
    }
  });

  it('rejects a server request whose params are an array with a progress token', async () => {
    const { transport, link } = await linkTo();
    call(link);
    transport.receiveText(
      '{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":[{"progressToken":1}]}',
    );
    await flushPromises();
    expect(transport.replyTo(5)?.error?.code).toBe(-32600);
  });
});

describe('JsonRpcLink.onNotification', () => {
  it('passes on params as the server wrote them', async () => {
    const { transport, link } = await linkTo();
    const received: ServerNotification[] = [];
    link.onNotification((notification) => received.push(notification));
    transport.receiveText(
      '{"jsonrpc":"2.0","method":"notifications/message","params":{ "level":"info","data":1.0 }}',
    );
    expect(received).toEqual([
      {
        method: 'notifications/message',
        params: { level: 'info', data: 1 },
        paramsText: '{ "level":"info","data":1.0 }',
        channel: undefined,
      },
    ]);
  });
});

/** Receives a message that was refused. */
const refuse = (transport: FakeTransport, text: string): void =>
  transport.onrefused?.(new JsonProblem('depth', 'is nested too deeply', JsonDocument.of(text)));

describe('JsonRpcLink with a message over a limit of JSON', () => {
  it('fails the request that it responds to, and counts the message', async () => {
    const limits: string[] = [];
    const { transport, link } = await linkTo({}, { onRefusedJson: (limit) => limits.push(limit) });
    const [first, second] = [call(link), call(link)];
    const [{ id }, other] = transport.all('tools/call') as [Sent, Sent];
    refuse(transport, JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
    transport.answer(other.id, {});
    await flushPromises();
    expect(first.outcome.error).toMatchObject({
      message: 'the server sent an invalid response: the message is nested too deeply',
    });
    expect(second.outcome.value?.text).toBe('{}');
    expect(limits).toEqual(['depth']);
  });

  it('answers a request of the server with an error', async () => {
    const { transport, link } = await linkTo();
    const { outcome } = call(link);
    const id = transport.only('tools/call').id!;
    refuse(transport, JSON.stringify({ jsonrpc: '2.0', id, method: 'sampling/createMessage' }));
    await flushPromises();
    expect(transport.replyTo(id)?.error).toMatchObject({ code: -32600 });
    expect(outcome.error).toBeUndefined();
  });

  it.each([
    ['request', { id: 7, method: 'sampling/createMessage' }, 1],
    ['notification', { method: 'notifications/message' }, 0, 1_048_576],
    ['progress notification', { method: 'notifications/progress' }, 0, 1_048_576],
  ])('refuses a %s with very long params', async (_kind, message, replies, length = 4_194_304) => {
    const limits: string[] = [];
    const { transport, link } = await linkTo({}, { onRefusedJson: (limit) => limits.push(limit) });
    const received: unknown[] = [];
    link.onNotification((notification) => received.push(notification));
    transport.receive({ ...message, params: { s: 'x'.repeat(length) } });
    expect(limits).toEqual(['size']);
    expect(received).toEqual([]);
    expect(transport.sent.filter(({ error }) => error?.code === -32600)).toHaveLength(replies);
  });

  it('refuses wide params, whose members are not indexed', async () => {
    const { transport } = await linkTo();
    const params = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`key ${n}`, n]));
    transport.receive({ id: 7, method: 'sampling/createMessage', params });
    expect(transport.sent.filter(({ error }) => error?.code === -32600)).toHaveLength(1);
  });

  it('refuses a long result whose members are not indexed', async () => {
    const { transport, link } = await linkTo();
    const { outcome } = call(link);
    transport.answer(transport.only('tools/call').id, { s: 'x'.repeat(270_000) });
    await flushPromises();
    expect(outcome.error).toMatchObject({ message: expect.stringContaining('too many members') });
  });
});
