import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { onCleanup } from '../../test/kit/cleanup.js';
import { exchange, type RawRequest, type RawResponse } from '../../test/kit/http.js';
import { BOTH_TYPES, postMessage, RawSession } from '../../test/kit/raw-session.js';
import type { Limits } from '../config/limits.js';
import { EdgeHarness } from '../../test/kit/edge-harness.js';
import { isJsonObject } from '../lib/json-text/json-value.js';

async function serve(limits: Partial<Limits> = {}): Promise<EdgeHarness> {
  const edge = new EdgeHarness(limits);
  await edge.listen();
  onCleanup(() => edge.close());
  return edge;
}

interface Failure {
  readonly id?: unknown;
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const failureOf = ({ text }: RawResponse): Failure => JSON.parse(text) as Failure;

const PING = { jsonrpc: '2.0', id: 'p', method: 'ping' };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'i',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
};

/** A session of the revision that has batches. */
const openForBatches = (): Promise<RawSession> =>
  RawSession.open(edge.url, { protocolVersion: '2025-03-26' });
const pings = (count: number): object[] => Array.from({ length: count }, (_, id) => ({ ...PING, id }));

let edge: EdgeHarness;
beforeEach(async () => {
  Logger.overrideLogger(false);
  edge = await serve({ requestBytes: 1000 });
});

describe('McpEndpoint', () => {
  it.each(['PUT', 'PATCH', 'HEAD'])('refuses %s and names the allowed methods', async (method) => {
    const { status, headers } = await exchange(edge.url, { method });
    expect(status).toBe(405);
    expect(headers.allow).toBe('GET, POST, DELETE, OPTIONS');
  });

  it('answers a CORS preflight', async () => {
    const origin = 'http://localhost:5173';
    const { status, headers } = await exchange(edge.url, { method: 'OPTIONS', headers: { origin } });
    expect(status).toBe(204);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(headers['access-control-allow-methods']).toContain('DELETE');
    expect(headers['access-control-allow-headers']).toContain('mcp-session-id');
  });

  it('allows a web page the headers of MCP, and of tool arguments as the preflight names them', async () => {
    const requested = 'Mcp-Param-Region, mcp-param-a_b,mcp-param-, mcp-param-x\u00e9, x-other, mcp-method';
    const { headers } = await exchange(edge.url, {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:5173', 'access-control-request-headers': requested },
    });
    const allowed = String(headers['access-control-allow-headers']).split(', ');
    expect(allowed).toEqual(expect.arrayContaining(['mcp-method', 'mcp-name']));
    const inRequestOnly = ['mcp-param-region', 'mcp-param-a_b'];
    expect(allowed.filter((name) => name.startsWith('mcp-param') || name === 'x-other')).toEqual(
      inRequestOnly,
    );
  });

  it.each<[string, RawRequest['headers'], string | object, number, number]>([
    ['an Accept header without both types', { accept: 'application/json' }, PING, 406, -32000],
    ['another content type', { 'content-type': 'text/plain' }, PING, 415, -32000],
    ['a body that is too large', {}, { ...PING, params: { x: 'x'.repeat(1000) } }, 413, -32000],
    ['no JSON', {}, '{', 400, -32700],
    ['no body', {}, '', 400, -32700],
    ['JSON that is no message', {}, '7', 400, -32600],
    ['another version of JSON-RPC', {}, { id: 1, method: 'ping' }, 400, -32600],
    ['an id of null', {}, { ...PING, id: null }, 400, -32600],
    ['no session', {}, PING, 400, -32000],
    ['an unknown session', { 'mcp-session-id': 'unknown' }, PING, 404, -32001],
    ['an unknown revision', { 'mcp-protocol-version': '1999-01-01' }, PING, 400, -32000],
    ['a batch without a session', {}, [PING], 400, -32000],
  ])('refuses a POST with %s', async (_what, headers, body, status, code) => {
    const response = await postMessage(edge.url, body, headers);
    expect(response.status).toBe(status);
    expect(response.headers['content-type']).toBe('application/json');
    expect(failureOf(response).error.code).toBe(code);
  });

  it.each<[string, object, unknown]>([
    ['answers an invalid message with its id if it is readable', { ...PING, jsonrpc: '1.0' }, 'p'],
    ['answers a request without a session with its id', PING, 'p'],
    ['answers a message with an unreadable id without an id', { ...PING, id: {} }, undefined],
    ['answers a refused notification without an id', { jsonrpc: '2.0', method: 'x' }, undefined],
  ])('%s', async (_what, message, id) => {
    const failure = failureOf(await postMessage(edge.url, message));
    expect(failure.id).toBe(id);
    expect('id' in failure).toBe(id !== undefined);
  });

  it('refuses a body that is not UTF-8', async () => {
    const body = Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const response = await postMessage(edge.url, body);
    expect([response.status, failureOf(response).error.code]).toEqual([400, -32700]);
  });

  it('answers any body', async () => {
    const session = await RawSession.open(edge.url);
    const bodies = fc.oneof(
      fc.json(),
      fc.string(),
      fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
      fc
        .record(
          {
            jsonrpc: fc.constant('2.0'),
            id: fc.jsonValue(),
            method: fc.oneof(
              fc.constantFrom('ping', 'initialize', '__proto__', 'constructor'),
              fc.jsonValue(),
            ),
            params: fc.jsonValue(),
          },
          { requiredKeys: ['jsonrpc'] },
        )
        .map((message) => JSON.stringify(message)),
    );
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const response = await postMessage(edge.url, body, { 'mcp-session-id': session.id });
        expect([200, 202, 400, 413]).toContain(response.status);
        expect(response.status === 202 ? response.text === '' : isJsonObject(JSON.parse(response.text))).toBe(
          true,
        );
      }),
      { numRuns: 200 },
    );
    expect((await session.request('ping')).result).toEqual({});
  });
});

describe('McpEndpoint initialize', () => {
  it('creates a session and returns its id', async () => {
    const response = await postMessage(edge.url, INITIALIZE);
    expect(response.status).toBe(200);
    expect(response.headers['mcp-session-id']).toMatch(/^[\x21-\x7e]{32}$/);
    expect(JSON.parse(response.text)).toMatchObject({
      id: 'i',
      result: { protocolVersion: '2025-11-25', serverInfo: { name: 'gatehouse' } },
    });
    expect(edge.sessions.size).toBe(1);
  });

  it('creates no session when it fails', async () => {
    const response = await postMessage(edge.url, { ...INITIALIZE, params: {} });
    expect(response.headers['mcp-session-id']).toBeUndefined();
    expect(failureOf(response)).toMatchObject({ id: 'i', error: { code: -32602 } });
    expect(edge.sessions.size).toBe(0);
  });

  it('is refused within a session', async () => {
    const session = await RawSession.open(edge.url);
    const response = await session.post(INITIALIZE);
    expect(response.status).toBe(400);
    expect(failureOf(response)).toMatchObject({ id: 'i', error: { code: -32600 } });
  });

  it('is refused with its request id above the limit of sessions, also concurrently', async () => {
    const small = await serve({ sessions: 2 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => postMessage(small.url, INITIALIZE)));
    const refused = answers.filter(({ headers }) => headers['mcp-session-id'] === undefined);
    expect(small.sessions.size).toBe(2);
    expect(refused).toHaveLength(6);
    for (const answer of refused) {
      expect(failureOf(answer)).toEqual({
        jsonrpc: '2.0',
        id: 'i',
        error: {
          code: -31029,
          message: 'LimitExceeded: 2 sessions are open',
          data: { code: 'LimitExceeded', limit: 2 },
        },
      });
    }
  });
});

describe('McpEndpoint with a session', () => {
  it('answers notifications and responses with 202', async () => {
    const session = await RawSession.open(edge.url);
    for (const response of [await session.notify('notifications/x'), await session.reply('none', {})]) {
      expect(response).toMatchObject({ status: 202, text: '' });
      expect(response.headers['content-length']).toBe('0');
    }
  });

  it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'])(
    'accepts the MCP-Protocol-Version %s',
    async (version) => {
      const session = await RawSession.open(edge.url);
      expect((await session.post(PING, { 'mcp-protocol-version': version })).status).toBe(200);
    },
  );

  it('closes the session on DELETE', async () => {
    const session = await RawSession.open(edge.url);
    expect((await session.end()).status).toBe(200);
    expect((await session.end()).status).toBe(404);
    expect((await session.post(PING)).status).toBe(404);
    expect(edge.sessions.size).toBe(0);
  });

  it.each<[string, RawRequest['headers'], number]>([
    ['that does not accept event streams', { accept: 'application/json' }, 406],
    ['with an invalid Last-Event-ID', { 'last-event-id': 'x' }, 400],
    ['with an unknown Last-Event-ID', { 'last-event-id': '1.zz' }, 200],
  ])('answers GET %s with its status', async (_what, headers, status) => {
    const session = await RawSession.open(edge.url);
    const base = { accept: 'text/event-stream', 'mcp-session-id': session.id };
    expect((await exchange(edge.url, { headers: { ...base, ...headers } })).status).toBe(status);
  });

  it.each<[string, RawRequest['headers'], number]>([
    ['without a session', {}, 405],
    ['with an unknown session', { 'mcp-session-id': 'unknown' }, 404],
  ])('refuses GET and DELETE %s', async (_what, headers, status) => {
    const accepting = { accept: BOTH_TYPES, ...headers };
    expect((await exchange(edge.url, { headers: accepting })).status).toBe(status);
    expect((await exchange(edge.url, { method: 'DELETE', headers: accepting })).status).toBe(status);
  });
});

describe('McpEndpoint batches', () => {
  it.each(['2025-11-25', '2025-06-18', '2024-11-05'])(
    'are refused in revision %s',
    async (protocolVersion) => {
      const session = await RawSession.open(edge.url, { protocolVersion });
      const response = await session.post([PING]);
      expect([response.status, failureOf(response).error.code]).toEqual([400, -32600]);
    },
  );

  it.each([0, 21])('of %i messages are refused', async (count) => {
    expect((await (await openForBatches()).post(pings(count))).status).toBe(400);
  });

  it.each([1, 20])('of %i requests are answered with an array', async (count) => {
    const response = await (await openForBatches()).post(pings(count));
    expect(response.status).toBe(200);
    expect(JSON.parse(response.text)).toHaveLength(count);
  });

  it('of notifications only are answered with 202', async () => {
    const response = await (await openForBatches()).post([{ jsonrpc: '2.0', method: 'notifications/x' }]);
    expect(response).toMatchObject({ status: 202, text: '' });
  });

  it('are answered for each request and each invalid message only', async () => {
    const response = await (
      await openForBatches()
    ).post([
      PING,
      { jsonrpc: '2.0', method: 'notifications/x' },
      { ...PING, id: 'q', method: 'nothing' },
      7,
      { ...INITIALIZE, id: 'again' },
      { ...PING, id: 'p' },
    ]);
    const answers = (JSON.parse(response.text) as { id?: unknown; error?: { code: number } }[]).map(
      ({ id, error }) => [id, error?.code],
    );
    expect(answers).toHaveLength(5);
    expect(answers).toEqual(
      expect.arrayContaining([
        ['p', undefined],
        ['q', -32601],
        [undefined, -32600],
        ['again', -32600],
        ['p', -32600],
      ]),
    );
  });

  it('keep the params text of each message', async () => {
    let text: string | undefined;
    edge.handlers.set('x', (_params, context) => {
      text = context.paramsText;
      return {};
    });
    const params = '{ "big":12345678901234567890, "f":1.0 }';
    await (await openForBatches()).post(` [ {"jsonrpc":"2.0","id":1,"method":"x","params":${params}} ] `);
    expect(text).toBe(params);
  });
});

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const call = (value: string): string =>
  `{"jsonrpc":"2.0","id":"c","method":"x","params":{ "name" : "n", "arguments":${value} }}`;

describe('McpEndpoint with a long or deep body', () => {
  beforeEach(async () => {
    edge = await serve({ requestBytes: 4_000_000 });
  });

  it.each([
    ['depth', call(nested(63)), 'Invalid request: the body is nested more than 64 levels deep'],
    ['depth', call(nested(100_000)), 'Invalid request: the body is nested more than 64 levels deep'],
    [
      'members',
      call(`[${'0,'.repeat(100_000)}0]`),
      'Invalid request: the body has more than 100000 members and elements',
    ],
  ])('refuses a body over the limit of %s and counts it', async (reason, body, message) => {
    const session = await RawSession.open(edge.url);
    const response = await session.post(body);
    expect(response.status).toBe(400);
    expect(failureOf(response)).toMatchObject({ id: 'c', error: { code: -32600, message } });
    expect(await edge.metrics.text()).toContain(
      `gatehouse_refused_json_total{source="client",reason="${reason}"} 1`,
    );
  });

  it.each([
    ['nested to the limit', nested(61)],
    ['with as many elements as allowed', `[${'0,'.repeat(99_992)}0]`],
    ['with a long string', JSON.stringify('é'.repeat(100_000))],
    ['with a long object', `{ "f":1.0, "s":"${'x'.repeat(100_000)}"}`],
  ])('passes arguments %s on as they were written', async (_what, value) => {
    const session = await openForBatches();
    let seen: [unknown, string | undefined] | undefined;
    edge.handlers.set('x', (params, context) => {
      seen = [params?.['name'], context.paramsText];
      return {};
    });
    for (const body of [call(value), `[${call(value)}]`]) {
      expect((await session.post(body)).status).toBe(200);
      expect(seen).toEqual(['n', `{ "name" : "n", "arguments":${value} }`]);
    }
  });
});
