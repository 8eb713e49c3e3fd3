import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../../test/kit/cleanup.js';
import { EdgeHarness } from '../../../test/kit/edge-harness.js';
import { exchange, type RawResponse } from '../../../test/kit/http.js';
import {
  envelopeOf,
  MODERN_VERSION,
  postModern,
  type ModernOptions,
} from '../../../test/kit/modern-calls.js';
import { BOTH_TYPES, messageIn, postMessage, RawSession } from '../../../test/kit/raw-session.js';
import { deferred, until } from '../../../test/kit/until.js';
import type { HttpSettings } from '../../config/http-settings.js';
import type { Limits } from '../../config/limits.js';
import { GatewayError, limitExceeded, RemoteError } from '../../core/errors.js';
import { requireString } from '../../mcp/params.js';

const MODERN_HEADER = { 'mcp-protocol-version': MODERN_VERSION };
const ID = 'request-7';
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'c', version: '1' },
};
const LIST = { jsonrpc: '2.0', id: ID, method: 'tools/list' };
const modernList = (id = ID): object => ({ ...LIST, id, params: { _meta: envelopeOf() } });

async function serve(limits: Partial<Limits> = {}, http: Partial<HttpSettings> = {}): Promise<EdgeHarness> {
  const started = new EdgeHarness(limits, http);
  started.handlers.set('tools/list', () => ({ tools: [] }));
  started.handlers.set('tools/call', (params) => ({ called: requireString(params, 'name') }));
  started.handlers.set('resources/read', () => ({ contents: [] }));
  await started.listen();
  onCleanup(() => started.close());
  return started;
}

let edge: EdgeHarness;
beforeEach(async () => {
  Logger.overrideLogger(false);
  edge = await serve();
});

const call = (method: string, params: Record<string, unknown> = {}, more: ModernOptions = {}) =>
  postModern(edge.url, method, params, { id: ID, ...more });

const post = (body: object | string, headers: Record<string, string> = {}): Promise<RawResponse> =>
  postMessage(edge.url, body, headers);

/** HTTP status, JSON-RPC code and id of a refusal. */
const refused = ({ status, text }: RawResponse): unknown[] => {
  const { id, error } = messageIn(text);
  return [status, error?.code, id];
};

describe('a request of revision 2026-07-28', () => {
  it('is answered without a session', async () => {
    const { status, headers, text } = await call('tools/list');
    expect([status, headers['mcp-session-id'], edge.sessions.size]).toEqual([200, undefined, 0]);
    expect(text).toBe(
      `{"jsonrpc":"2.0","id":"${ID}","result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[]}}`,
    );
  });

  // In the order in which they are checked.
  it.each<[string, string, Record<string, unknown>, ModernOptions, number, number]>([
    ['a version that is no text', 'tools/list', {}, { envelope: { protocolVersion: 7 } }, 400, -32602],
    [
      'no client capabilities',
      'tools/list',
      {},
      { envelope: { clientCapabilities: undefined } },
      400,
      -32602,
    ],
    [
      'a client without a version',
      'tools/list',
      {},
      { envelope: { clientInfo: { name: 'x' } } },
      400,
      -32602,
    ],
    ['an unknown log level', 'tools/list', {}, { envelope: { logLevel: 'loud' } }, 400, -32602],
    ['no version header', 'tools/list', {}, { headers: { 'mcp-protocol-version': undefined } }, 400, -32020],
    [
      'another version header',
      'tools/list',
      {},
      { headers: { 'mcp-protocol-version': '2025-11-25' } },
      400,
      -32020,
    ],
    [
      'a version that is not served',
      'tools/list',
      {},
      { headers: { 'mcp-protocol-version': '2027-01-01' }, envelope: { protocolVersion: '2027-01-01' } },
      400,
      -32022,
    ],
    ['no method header', 'tools/list', {}, { headers: { 'mcp-method': undefined } }, 400, -32020],
    ['another method header', 'tools/list', {}, { headers: { 'mcp-method': 'tools/call' } }, 400, -32020],
    [
      'a method header in other case',
      'tools/list',
      {},
      { headers: { 'mcp-method': 'Tools/List' } },
      400,
      -32020,
    ],
    ['an unknown method', 'tools/forget', {}, {}, 404, -32601],
    ['a method of sessions', 'ping', {}, {}, 404, -32601],
    ['initialize', 'initialize', INITIALIZE, {}, 404, -32601],
    ['no name header', 'tools/call', { name: 'a' }, { headers: { 'mcp-name': undefined } }, 400, -32020],
    ['another name header', 'tools/call', { name: 'a' }, { headers: { 'mcp-name': 'b' } }, 400, -32020],
    [
      'a name header with bad base64',
      'tools/call',
      { name: 'x' },
      { headers: { 'mcp-name': '=?base64?eA?=' } },
      400,
      -32020,
    ],
    ['bad params', 'tools/call', { name: 7 }, {}, 200, -32602],
  ])('with %s is refused', async (_what, method, params, options, status, code) => {
    expect(refused(await call(method, params, options))).toEqual([status, code, ID]);
  });

  it.each<[string, string, ModernOptions, Record<string, unknown>, number]>([
    // Both are wrong: the first that is checked answers.
    [
      'envelope before version header',
      'tools/list',
      { envelope: { clientCapabilities: 1 }, headers: { 'mcp-protocol-version': '1' } },
      {},
      -32602,
    ],
    [
      'version header before version',
      'tools/list',
      { envelope: { protocolVersion: '2027-01-01' } },
      {},
      -32020,
    ],
    [
      'version before method header',
      'tools/list',
      {
        envelope: { protocolVersion: '2027-01-01' },
        headers: { 'mcp-protocol-version': '2027-01-01', 'mcp-method': 'x' },
      },
      {},
      -32022,
    ],
    ['method header before method', 'tools/forget', { headers: { 'mcp-method': 'x' } }, {}, -32020],
    [
      'name header before params',
      'tools/call',
      { headers: { 'mcp-name': 'b' } },
      { name: 'a', arguments: 7 },
      -32020,
    ],
  ])('is checked in order: %s', async (_what, method, options, params, code) => {
    expect(refused(await call(method, params, options))[1]).toBe(code);
  });

  it('says which versions are served', async () => {
    const protocolVersion = '2027-01-01';
    const { error } = messageIn(
      (
        await call(
          'tools/list',
          {},
          { headers: { 'mcp-protocol-version': protocolVersion }, envelope: { protocolVersion } },
        )
      ).text,
    );
    expect(error?.data).toEqual({ supported: [MODERN_VERSION], requested: protocolVersion });
  });

  it('has names in base64 in its header', async () => {
    const answer = await call(
      'tools/call',
      { name: 'größe' },
      { headers: { 'mcp-name': '=?base64?Z3LDtsOfZQ==?=' } },
    );
    expect(messageIn(answer.text).result).toMatchObject({ called: 'größe' });
  });

  it.each([0, '', 'ö'])('is answered under its id %j', async (id) => {
    expect(messageIn((await call('tools/list', {}, { id })).text).id).toBe(id);
    expect(messageIn((await call('ping', {}, { id })).text).id).toBe(id);
  });

  it.each<[string, Error, number, number]>([
    ['a limit', limitExceeded('too many', 1), 200, -31029],
    ['a server that is down', new GatewayError('server-unavailable', 'down'), 200, -31003],
    ['a resource that is missing', new GatewayError('resource-not-found', 'x'), 200, -32602],
    [
      'a missing capability that a server needs',
      new RemoteError(-32021, 'no', '{"code":-32021,"message":"no"}'),
      400,
      -32021,
    ],
    ['-32020 of a server', new RemoteError(-32020, 'no', '{"code":-32020,"message":"no"}'), 200, -32020],
    ['-32022 of a server', new RemoteError(-32022, 'no', '{"code":-32022,"message":"no"}'), 200, -32022],
    ['-32002 of a server', new RemoteError(-32002, 'no', '{"code":-32002,"message":"no"}'), 200, -32602],
  ])('that fails with %s is answered', async (_what, error, status, code) => {
    edge.handlers.set('resources/read', () => {
      throw error;
    });
    expect(refused(await call('resources/read', { uri: 'a://b' }))).toEqual([status, code, ID]);
  });

  it('with an envelope that is too large is refused and counted', async () => {
    const clientCapabilities = { experimental: { x: { y: 'x'.repeat(20_000) } } };
    expect(refused(await call('tools/list', {}, { envelope: { clientCapabilities } }))).toEqual([
      400,
      -32602,
      ID,
    ]);
    expect(await edge.metrics.text()).toContain('limit="client-profile"} 1');
  });

  it('and beyond the limit of its principal is refused, in-band', async () => {
    edge = await serve({ requestsPerPrincipal: 1 });
    const end = deferred<object>();
    edge.handlers.set('tools/list', () => end.promise);
    const first = call('tools/list');
    const second = await call('tools/call', { name: 'a' });
    expect(refused(second)).toEqual([200, -31029, ID]);
    expect(messageIn(second.text).error?.data).toEqual({ code: 'LimitExceeded', limit: 1 });
    end.resolve({ tools: [] });
    expect((await first).status).toBe(200);
    expect((await call('tools/call', { name: 'a' })).text).toContain('"called":"a"');
  });
});

describe('an endpoint of both eras', () => {
  it('still serves sessions', async () => {
    const session = await RawSession.open(edge.url);
    expect((await session.request('tools/list')).text).toBe('{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}');
  });

  it.each<[string, object, Record<string, string>, number, number]>([
    ['a 2026 header and no params', LIST, MODERN_HEADER, 400, -32602],
    ['a 2026 header and no envelope', { ...LIST, params: {} }, MODERN_HEADER, 400, -32602],
    [
      'a later header and no envelope',
      { ...LIST, params: {} },
      { 'mcp-protocol-version': '2027-01-01' },
      400,
      -32602,
    ],
    ['no envelope, header or session', LIST, {}, 400, -32000],
    [
      'initialize and a 2026 header',
      { ...LIST, method: 'initialize', params: INITIALIZE },
      MODERN_HEADER,
      400,
      -32020,
    ],
  ])('refuses a request with %s', async (_what, body, headers, status, code) => {
    expect(refused(await post(body, headers))).toEqual([status, code, ID]);
  });

  it.each([
    ['no envelope', {}],
    ['an incomplete envelope', { _meta: { 'io.modelcontextprotocol/protocolVersion': MODERN_VERSION } }],
    ['an envelope of 2025', { _meta: envelopeOf({ envelope: { protocolVersion: '2025-11-25' } }) }],
  ])('takes initialize with %s for a session', async (_what, more) => {
    const body = { ...LIST, method: 'initialize', params: { ...INITIALIZE, ...more } };
    expect((await post(body)).headers['mcp-session-id']).toBeDefined();
  });

  it('refuses batches of the 2026 era', async () => {
    const session = await RawSession.open(edge.url, { protocolVersion: '2025-03-26' });
    expect(refused(await session.post([LIST, modernList('b')]))).toEqual([400, -32600, undefined]);
    expect(refused(await post([LIST], MODERN_HEADER))).toEqual([400, -32600, undefined]);
    expect((await session.post([LIST])).status).toBe(200);
  });

  it('refuses a response without a session', async () => {
    expect(refused(await post({ jsonrpc: '2.0', id: ID, result: {} }))).toEqual([400, -32600, undefined]);
  });

  it.each<[string, object, Record<string, string>, number]>([
    ['with envelope', { _meta: envelopeOf() }, MODERN_HEADER, 202],
    ['with envelope and no header', { _meta: envelopeOf() }, {}, 202],
    ['with header and no envelope', {}, MODERN_HEADER, 202],
    ['with another header', { _meta: envelopeOf() }, { 'mcp-protocol-version': '2025-11-25' }, 400],
    [
      'with a version that is no text',
      { _meta: { 'io.modelcontextprotocol/protocolVersion': 1 } },
      MODERN_HEADER,
      400,
    ],
  ])('accepts and ignores a notification %s', async (_what, params, headers, status) => {
    const method = 'notifications/cancelled';
    const answer = await post({ jsonrpc: '2.0', method, params: { requestId: ID, ...params } }, headers);
    expect([answer.status, answer.text === '']).toEqual([status, status === 202]);
  });

  it('ignores the session id of a request with an envelope', async () => {
    const session = await RawSession.open(edge.url);
    for (const id of [session.id, 'unknown']) {
      const answer = await call('tools/list', {}, { headers: { 'mcp-session-id': id } });
      expect(answer.text).toContain('"resultType":"complete"');
    }
  });

  it('lets a notification with an envelope cancel nothing in a session', async () => {
    const session = await RawSession.open(edge.url);
    const end = deferred<object>();
    edge.handlers.set('slow', (_params, { signal }) => {
      signal.addEventListener('abort', () => end.resolve({ aborted: true }));
      return end.promise;
    });
    const running = session.request('slow', {}, ID);
    await until('the request runs', () => edge.receiver.inFlight.size === 1);
    const cancel = { requestId: ID, _meta: envelopeOf() };
    expect((await session.notify('notifications/cancelled', cancel)).status).toBe(202);
    end.resolve({ aborted: false });
    expect((await running).result).toEqual({ aborted: false });
  });

  it('has GET and DELETE only for sessions', async () => {
    for (const method of ['GET', 'DELETE']) {
      const headers = { accept: BOTH_TYPES };
      const answer = await exchange(edge.url, { method, headers });
      expect([answer.status, answer.headers.allow]).toEqual([405, 'POST, OPTIONS']);
      expect(messageIn(answer.text).error?.code).toBe(-32000);
      const modern = await exchange(edge.url, { method, headers: { ...headers, ...MODERN_HEADER } });
      expect(messageIn(modern.text).error?.code).toBe(-31405);
      const unknown = await exchange(edge.url, { method, headers: { ...headers, 'mcp-session-id': 'x' } });
      expect(unknown.status).toBe(404);
    }
  });

  it.each<[string, Record<string, string>, string | object, number, number]>([
    ['an Accept header without both types', { accept: 'application/json' }, modernList(), 406, -31406],
    ['another content type', { 'content-type': 'text/plain' }, modernList(), 415, -31415],
    ['no JSON', {}, '{', 400, -32700],
    ['JSON that is no message', {}, '7', 400, -32600],
  ])('refuses %s with the codes of the revision', async (_what, headers, body, status, code) => {
    expect(refused(await post(body, { ...MODERN_HEADER, ...headers })).slice(0, 2)).toEqual([status, code]);
  });

  it('uses the last of two _meta members, as JSON.parse does', async () => {
    const meta = JSON.stringify(envelopeOf());
    const old = JSON.stringify(envelopeOf({ envelope: { protocolVersion: '2025-11-25' } }));
    const body = (first: string, last: string): string =>
      `{"jsonrpc":"2.0","id":"${ID}","method":"tools/list","params":{"_meta":${first},"_meta":${last}}}`;
    const headers = { ...MODERN_HEADER, 'mcp-method': 'tools/list' };
    expect((await post(body(old, meta), headers)).status).toBe(200);
    expect(refused(await post(body(meta, old), headers))).toEqual([400, -32020, ID]);
  });
});

describe('an endpoint with http.modern: false', () => {
  beforeEach(async () => {
    edge = await serve({}, { modern: false });
  });

  it('takes no message of revision 2026-07-28', async () => {
    expect(refused(await call('tools/list'))).toEqual([400, -32000, ID]);
    const { text } = await call('tools/list', {}, { headers: { 'mcp-protocol-version': undefined } });
    expect(messageIn(text).error).toEqual({ code: -32000, message: 'The Mcp-Session-Id header is required' });
  });

  it.each(['GET', 'DELETE'])('requires a session id for %s', async (method) => {
    const answer = await exchange(edge.url, { method, headers: { accept: BOTH_TYPES } });
    expect(refused(answer)).toEqual([400, -32000, undefined]);
  });
});
