import { describe, expect, it } from '@jest/globals';
import { FakeClient } from '../../../test/kit/fake-client.js';
import { FakeTransport, LINK_OPTIONS, type Sent } from '../../../test/kit/fake-transport.js';
import { flushPromises, outcomeOf, refusalOf } from '../../../test/kit/promises.js';
import { until } from '../../../test/kit/until.js';
import type { RemoteError } from '../../core/errors.js';
import { MODERN_VERSION } from '../../mcp/envelope.js';
import { JsonRpcLink } from './json-rpc-link.js';
import { hasRefusedHeaders, toCallError } from './link-errors.js';
import type { LinkRequest } from './link.js';
import { TransportError } from './transport.js';

const DISCOVERED = { supportedVersions: [MODERN_VERSION], capabilities: { tools: {} } };
const CALL = { method: 'tools/call', params: '{"name":"add","arguments":{"a":1}}', timeoutMs: 1000 };
const READ = { method: 'resources/read', params: '{"uri":"a:1"}', timeoutMs: 1000 };

interface ModernServer {
  /** The answer to `server/discover`, which a spec may change. */
  discovery?: object;
  /** Fails the delivery of `server/discover`. */
  failure?: Error;
  readonly hasOneStream?: boolean;
}

async function open(server: ModernServer = {}) {
  const unattributed: string[] = [];
  const transport: FakeTransport = new FakeTransport({
    hasOneStream: server.hasOneStream ?? false,
    onSend: ({ id, method }: Sent) => {
      if (method !== 'server/discover') return;
      if (server.failure) throw server.failure;
      transport.receive({ id, ...(server.discovery ?? { result: DISCOVERED }) });
    },
  });
  const options = {
    ...LINK_OPTIONS,
    opening: 'discover' as const,
    onUnattributed: (message: string) => void unattributed.push(message),
  };
  const link = await JsonRpcLink.connect(transport, options, new AbortController().signal);
  transport.sent.length = 0;
  const send = (request: LinkRequest) => {
    const outcome = link.request(request);
    return { outcome, sent: transport.sent.at(-1)! };
  };
  return { transport, link, unattributed, send, server };
}

describe('a link of the 2026 era', () => {
  it('sends the revision from the first request on, and no initialize', async () => {
    const { transport } = await open();
    expect(transport.protocolVersion).toBe(MODERN_VERSION);
    expect(transport.handshake).toEqual([]);
  });

  it('has no notification stream if the server announces no changes', async () => {
    const { link } = await open();
    await link.notificationsReady;
    expect([link.notificationStream, link.refusesSubscriptions]).toEqual(['none', true]);
  });

  it.each([
    [{ ...CALL, target: 'add' }, 'mcp-method: tools/call\r\nmcp-name: add\r\n'],
    [CALL, 'mcp-method: tools/call\r\nmcp-name: add\r\n'],
    [READ, 'mcp-method: resources/read\r\nmcp-name: a:1\r\n'],
    [{ ...CALL, paramHeaders: [{ name: 'A', path: ['a'] }] }, 'mcp-name: add\r\nmcp-param-A: 1\r\n'],
    [{ method: 'tools/list', timeoutMs: 1000 }, 'mcp-method: tools/list\r\n'],
  ])('sends %o with its headers', async (request, headers) => {
    const { send } = await open();
    const { sent, outcome } = send(request);
    expect(sent.headers).toContain(headers);
    outcome.catch(() => {});
  });

  it('sends no headers over a pipe', async () => {
    const { send } = await open({ hasOneStream: true });
    const { sent, outcome } = send(CALL);
    expect(sent.headers).toBeUndefined();
    outcome.catch(() => {});
  });

  it.each([
    [true, ['notifications/cancelled']],
    [false, []],
  ])('over a pipe: %s, tells the server of a cancelled call with %j', async (hasOneStream, notified) => {
    const { transport, send } = await open({ hasOneStream });
    const caller = new FakeClient('a').call();
    const { sent, outcome } = send({ ...CALL, caller });
    const refusal = refusalOf(outcome);
    caller.cancel();
    await refusal;
    expect(transport.abandoned).toEqual([sent.id]);
    expect(transport.sent.slice(1).map(({ method }) => method)).toEqual(notified);
  });

  it('does not forward requests of the server, and counts them', async () => {
    const { transport, send, unattributed } = await open();
    const caller = new FakeClient('a', { sampling: {} }).call();
    const { sent, outcome } = send({ ...CALL, caller });
    transport.request('q', 'sampling/createMessage', {}, sent.id);
    await flushPromises();
    expect([caller.requests, transport.replyTo('q'), unattributed]).toEqual([[], undefined, ['request']]);
    outcome.catch(() => {});
  });

  it('does not notify the server of changed roots', async () => {
    const { transport, link } = await open();
    link.notify('notifications/roots/list_changed');
    expect(transport.sent).toEqual([]);
  });

  it.each([
    [READ, { code: -32602, message: 'no', data: { uri: 'a:1' } }, -32002],
    [READ, { code: -32602, message: 'no' }, -32602],
    [CALL, { code: -32602, message: 'no', data: { uri: 'a:1' } }, -32602],
    [CALL, { code: -32042, message: 'no', data: { x: 1 } }, -32042],
  ])('rejects %o that is answered with %o by the code %d', async (request, error, code) => {
    const { transport, send } = await open();
    const { sent, outcome } = send(request);
    transport.refuse(sent.id, error);
    const refusal = (await refusalOf(outcome)) as RemoteError;
    expect(refusal.code).toBe(code);
    expect(JSON.parse(refusal.text)).toEqual({ ...error, code });
  });

  it('answers a call with an error result when the client lacks a capability', async () => {
    const { transport, send } = await open();
    const { sent, outcome } = send(CALL);
    transport.refuse(sent.id, { code: -32021, message: 'needs sampling' });
    expect((await outcome).toJSON()).toEqual({
      content: [{ type: 'text', text: 'The call failed: the client lacks a capability: needs sampling' }],
      isError: true,
    });
  });

  it.each(['input_required', 'task'])('does not return a result of type %s', async (resultType) => {
    const { transport, send } = await open();
    const call = send(CALL);
    transport.answer(call.sent.id, { resultType });
    expect((await call.outcome).toJSON()).toMatchObject({ isError: true });
    const read = send(READ);
    transport.answer(read.sent.id, { resultType });
    expect(await refusalOf(read.outcome)).toMatchObject({ kind: 'internal' });
  });

  it('forwards rising progress under the token of the client, although each round of input has its own', async () => {
    const { transport, send } = await open();
    const caller = new FakeClient('a', { roots: {} }).call();
    const params = '{"name":"add","_meta":{"progressToken":"own"}}';
    const { sent, outcome } = send({ ...CALL, params, caller });
    const report = (requestId: Sent['id'], progress: number): void =>
      transport.notify('notifications/progress', { progressToken: requestId, progress, total: 3 }, requestId);
    const required = { resultType: 'input_required', inputRequests: { a: { method: 'roots/list' } } };
    report(sent.id, 1);
    report(sent.id, 2);
    transport.answer(sent.id, required);
    // Results that require input are processed in slices, which may take several iterations of the event loop.
    await until('the client is asked', () => caller.requests.length === 1);
    caller.requests[0]!.answer({ roots: [] });
    await until('the request is repeated', () => transport.sent.at(-1)!.id !== sent.id);
    const { id } = transport.sent.at(-1)!;
    report(sent.id, 3);
    report(id, 1);
    report(id, 3);
    transport.answer(id, { content: [] });
    await outcome;
    expect(id).not.toBe(sent.id);
    expect(caller.notifications.map(({ params: seen }) => seen)).toEqual([
      { progressToken: 'own', progress: 1, total: 3 },
      { progressToken: 'own', progress: 2, total: 3 },
      { progressToken: 'own', progress: 3, total: 5 },
      { progressToken: 'own', progress: 5, total: 5 },
    ]);
  });

  it('fails a call in a way that says that the server refused its headers', async () => {
    const { transport, send } = await open();
    const { sent, outcome } = send(CALL);
    transport.refuse(sent.id, { code: -32020, message: 'Mcp-Param-A is missing' });
    const error = await refusalOf(outcome);
    expect(error).toMatchObject({ fault: 'refused' });
    expect([hasRefusedHeaders(error), hasRefusedHeaders(toCallError('db', error))]).toEqual([false, true]);
  });

  it('ends when the server does not support the revision any more', async () => {
    const { transport, link, send } = await open();
    const { sent, outcome } = send(CALL);
    transport.refuse(sent.id, { code: -32022, message: 'no', data: { supported: ['2025-11-25'] } });
    expect(await refusalOf(outcome)).toMatchObject({ fault: 'session-expired' });
    expect(await link.closed).toMatchObject({ fault: 'session-expired' });
  });

  it.each([-32000, -32001, -32600])(
    'ends when the server answers %d, and then no longer offers the revision',
    async (code) => {
      const { transport, link, send, server } = await open();
      server.discovery = { error: { code: -32601, message: 'unknown method' } };
      const { sent, outcome } = send(CALL);
      transport.refuse(sent.id, { code, message: 'no session' });
      expect(await refusalOf(outcome)).toMatchObject({ code });
      expect(await link.closed).toMatchObject({ fault: 'session-expired' });
    },
  );

  it.each([
    ['still offers the revision', undefined],
    ['gives no verdict', new TransportError('refused', 'HTTP 503', { httpStatus: 503 })],
  ])('stays open when the server answers such an error and %s', async (_what, failure) => {
    const { transport, link, send, server } = await open();
    const closed = outcomeOf(link.closed);
    if (failure) server.failure = failure;
    const { sent, outcome } = send(CALL);
    transport.refuse(sent.id, { code: -32000, message: 'of the tool' });
    await refusalOf(outcome);
    await flushPromises();
    expect(transport.all('server/discover')).toHaveLength(1);
    expect(closed).toEqual({});
  });

  it.each([
    { code: -32603, message: 'of the tool' },
    { code: -32602, message: 'of the tool' },
  ])('does not ask the server again what it offers after %o', async (error) => {
    const { transport, send } = await open();
    const { sent, outcome } = send(CALL);
    transport.refuse(sent.id, error);
    await refusalOf(outcome);
    await flushPromises();
    expect(transport.all('server/discover')).toEqual([]);
  });
});

describe('a link of the 2025 era', () => {
  it.each([-32000, -32001, -32600])('does not ping the server after the error %d', async (code) => {
    const transport = new FakeTransport();
    const link = await JsonRpcLink.connect(transport, LINK_OPTIONS, new AbortController().signal);
    const refusal = refusalOf(link.request(CALL));
    transport.refuse(transport.only('tools/call').id, { code, message: 'of the tool' });
    await refusal;
    await flushPromises();
    expect(transport.sent.map(({ method }) => method)).toEqual(['tools/call']);
  });

  it('ends when the server supports only the other era', async () => {
    const transport = new FakeTransport();
    const link = await JsonRpcLink.connect(transport, LINK_OPTIONS, new AbortController().signal);
    const refusal = refusalOf(link.request(CALL));
    transport.refuse(transport.only('tools/call').id, { code: -32022, message: 'no' });
    expect(await refusal).toMatchObject({ fault: 'session-expired' });
    expect(await link.closed).toMatchObject({ fault: 'session-expired' });
  });
});
