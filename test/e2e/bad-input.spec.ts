import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from '../kit/events.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { messageIn, refusal, postMessage, RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { deferred, until } from '../kit/until.js';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

describe('JSON-RPC input', () => {
  let gateway: Gateway;
  let server: ScriptedServer;
  let session: RawSession;
  let waiting = deferred();

  beforeAll(async () => {
    server = await ScriptedServer.start();
    server
      .tool('wait', async (call) => {
        await Promise.race([waiting.promise, call.ended]);
        return text('waited');
      })
      .tool('echo', (call) => text(call.text));
    gateway = await startGateway({ mcpServers: { s: server.stdio() }, log: { level: 'debug' } });
    await gateway.listed({ tools: ['s'] });
    session = await RawSession.open(gateway.url);
  });

  afterAll(async () => {
    await session.end();
  });

  describe('a body', () => {
    it.each<[string, string | Buffer]>([
      ['an empty body', ''],
      ['a truncated object', '{"jsonrpc":"2.0","id":1,"method":"ping"'],
      ['words', 'ping'],
      ['single quotes', "{'jsonrpc':'2.0'}"],
      ['text after the object', `${JSON.stringify(PING)}{}`],
      ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
      ['a byte order mark', `\uFEFF${JSON.stringify(PING)}`],
      ['NaN', '{"jsonrpc":"2.0","id":NaN,"method":"ping"}'],
    ])('that is not JSON is a parse error (%s)', async (_what, body) => {
      const response = await postMessage(gateway.url, body, { 'mcp-session-id': session.id });
      expect(response.status).toBe(400);
      expect(response.headers['content-type']).toBe('application/json');
      const message = messageIn(response.text);
      expect(message.error?.code).toBe(-32700);
      expect(message).not.toHaveProperty('id');
    });

    it.each<[string, unknown]>([
      ['a string', 'ping'],
      ['a number', 7],
      ['null', null],
      ['an empty object', {}],
      ['no version', { id: 1, method: 'ping' }],
      ['another version', { ...PING, jsonrpc: '1.0' }],
      ['a version that is not a string', { ...PING, jsonrpc: 2 }],
      ['a method that is not a string', { ...PING, method: 7 }],
      ['params that are an array', { ...PING, params: [] }],
      ['params that are a string', { ...PING, params: 'x' }],
      ['params that are null', { ...PING, params: null }],
      ['an id that is null', { ...PING, id: null }],
      ['an id that is not an integer', { ...PING, id: 1.5 }],
      ['an id beyond the safe integers', { ...PING, id: 2 ** 60 }],
      ['an id that is an object', { ...PING, id: {} }],
      ['an id that is a boolean', { ...PING, id: true }],
      ['a result and an error', { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: '' } }],
      ['an error that is not an object', { jsonrpc: '2.0', id: 1, error: 'no' }],
      ['a response without an id', { jsonrpc: '2.0', result: {} }],
    ])('that is JSON but not JSON-RPC is an invalid request (%s)', async (_what, body) => {
      expect(await refusal(session.post(JSON.stringify(body)))).toEqual([400, -32600]);
    });

    it('is answered under its id if it has a valid one, and without an id otherwise', async () => {
      const known = await session.post({ jsonrpc: '1.0', id: 'x', method: 'ping' });
      expect(messageIn(known.text)).toMatchObject({ id: 'x', error: { code: -32600 } });
      const unknown = await session.post({ jsonrpc: '2.0', id: {}, method: 'ping' });
      expect(messageIn(unknown.text)).not.toHaveProperty('id');
    });

    it.each([0, '', -1, 'ü', 2 ** 53 - 1])('may have the id %j', async (id) => {
      expect(await session.request('ping', {}, id)).toMatchObject({ id, result: {} });
    });

    it('that is deeply nested is refused, and the session stays usable', async () => {
      const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
      const body = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"deep":${deep}}}`;
      const refused = await session.post(body);
      expect(refused.status).toBe(400);
      expect(refused.text).toContain('the body is nested more than 64 levels deep');
      expect((await session.post({ jsonrpc: '2.0', id: 2, method: 'ping' })).status).toBe(200);
    });
  });

  describe('a long text', () => {
    const long = '𝄞'.repeat(100_000);
    it.each<[string, string, object]>([
      ['the name of a tool', 'tools/call', { name: long }],
      ['the name of a prompt', 'prompts/get', { name: long }],
      ['a URI', 'resources/read', { uri: `a:${'x'.repeat(8000)}` }],
      [
        'a reference',
        'completion/complete',
        { ref: { type: 'ref/prompt', name: long }, argument: { name: 'a', value: '' } },
      ],
      ['a log level', 'logging/setLevel', { level: long }],
      ['a project', 'tools/list', { _meta: { projectId: long } }],
      ['a cursor', 'tools/list', { cursor: long }],
      ['a method', long, {}],
    ])('is shortened in error messages and the log if it is %s', async (_what, method, params) => {
      const from = gateway.logs.length;
      const { error } = await session.request(method, params);
      expect(error!.message.length).toBeLessThan(300);
      expect(error!.message).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/);
      const entry = await gateway.logged({ message: 'request failed', reason: error!.message }, from);
      expect(JSON.stringify(entry).length).toBeLessThan(1000);
    });

    it('is refused with 413 and counted beyond the limit of the body', async () => {
      const refused = await session.post(`"${'x'.repeat(4_194_304)}"`);
      expect(refused.status).toBe(413);
      const { text: metrics } = await exchange(gateway.urlOf('/metrics'));
      expect(metrics).toContain('gatehouse_refused_json_total{source="client",reason="size"} 1\n');
    });
  });

  describe('a batch', () => {
    it.each(['2025-11-25', '2025-06-18'])(
      'is refused in a session of revision %s, which has no batches',
      async (protocolVersion) => {
        const client = await RawSession.open(gateway.url, { protocolVersion });
        expect(await refusal(client.post([PING]))).toEqual([400, -32600]);
      },
    );

    it('is accepted in a session of 2025-03-26, and every request in it is answered', async () => {
      const client = await RawSession.open(gateway.url, { protocolVersion: '2025-03-26' });
      const batch = [
        { ...PING, id: 'a' },
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', id: 'b', method: 'nope' },
        { unknown: true },
        { jsonrpc: '2.0', id: 'c', method: 'initialize', params: {} },
      ];
      const response = await client.post(batch);
      expect(response.status).toBe(200);
      const answers = JSON.parse(response.text) as Message[];
      const byId = new Map(answers.map((answer) => [answer.id, answer]));
      expect(byId.get('a')?.result).toEqual({});
      expect(byId.get('b')?.error?.code).toBe(-32601);
      expect(byId.get(undefined)?.error?.code).toBe(-32600);
      expect(byId.get('c')?.error?.code).toBe(-32600);
      expect(answers).toHaveLength(4);
    });

    it('of notifications alone is answered 202 without a body', async () => {
      const client = await RawSession.open(gateway.url, { protocolVersion: '2025-03-26' });
      const response = await client.post([{ jsonrpc: '2.0', method: 'notifications/initialized' }]);
      expect([response.status, response.text]).toEqual([202, '']);
    });

    it.each([0, 21])('is refused when it is empty or too long (%d)', async (length) => {
      const client = await RawSession.open(gateway.url, { protocolVersion: '2025-03-26' });
      expect(await refusal(client.post(Array.from({ length }, () => PING)))).toEqual([400, -32600]);
    });
  });

  describe('a method', () => {
    it.each(['nope', 'tools/call/x', '__proto__', 'constructor', '', 'notifications/initialized', 'Ping'])(
      'that is unknown is answered -32601 (%s)',
      async (method) => {
        const { error } = await session.request(method);
        expect(error).toMatchObject({ code: -32601, message: `Method not found: ${method}` });
      },
    );

    it('that is unknown is ignored in a notification', async () => {
      const response = await session.notify('notifications/nope', { a: 1 });
      expect([response.status, response.text]).toEqual([202, '']);
    });

    it('is ignored in a response without a request', async () => {
      const response = await session.post({ jsonrpc: '2.0', id: 99, result: {} });
      expect([response.status, response.text]).toEqual([202, '']);
    });

    it.each<[string, string, object]>([
      ['an unknown tool', 'tools/call', { name: 'unknown_tool' }],
      ['no tool', 'tools/call', {}],
      ['a tool name that is not a string', 'tools/call', { name: 7 }],
      ['a second name in another case', 'tools/call', { name: 's__echo', Name: 's__wait' }],
      ['an unknown prompt', 'prompts/get', { name: 'unknown_prompt' }],
      ['no prompt', 'prompts/get', {}],
      ['a completion without a reference', 'completion/complete', {}],
      [
        'a completion of an unknown prompt',
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'x' } },
      ],
      ['an unknown log level', 'logging/setLevel', { level: 'loud' }],
      ['no log level', 'logging/setLevel', {}],
    ])('with invalid params is answered -32602 (%s)', async (_what, method, params) => {
      const before = server.countOf(method);
      const { error } = await session.request(method, params);
      expect(error?.code).toBe(-32602);
      expect(server.countOf(method)).toBe(before);
    });

    it('names the unknown tool in its error', async () => {
      const { error } = await session.callTool('unknown_tool');
      expect(error?.message).toBe('Unknown tool: unknown_tool');
    });

    it('is refused under an id that is in flight, and the first request completes', async () => {
      waiting = deferred();
      const before = server.inFlight;
      const first = session.callTool('s__wait', {}, 'twice');
      await until('the first is in flight', () => server.inFlight > before);
      const { error } = await session.callTool('s__wait', {}, 'twice');
      expect(error?.code).toBe(-32600);
      waiting.resolve();
      expect((await first).result).toEqual(text('waited'));
      expect((await session.request('ping', {}, 'twice')).result).toEqual({});
    });

    it('leaves prototypes unchanged by names of arguments', async () => {
      const args = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
      const { result } = await session.request('tools/call', `{"name":"s__echo","arguments":${args}}`);
      expect(JSON.stringify(result)).toContain(JSON.stringify(args).slice(1, -1));
    });
  });

  describe('initialize', () => {
    it.each<[string, unknown]>([
      ['no params', undefined],
      ['no version', { capabilities: {}, clientInfo: { name: 'x', version: '1' } }],
      ['a version that is not a string', { protocolVersion: 1, capabilities: {} }],
      ['capabilities that are not an object', { protocolVersion: '2025-11-25', capabilities: 'all' }],
    ])('is answered -32602 without a session when invalid (%s)', async (_what, params) => {
      const response = await postMessage(gateway.url, { ...PING, method: 'initialize', params });
      expect(messageIn(response.text).error?.code).toBe(-32602);
      expect(response.headers).not.toHaveProperty('mcp-session-id');
    });

    it.each(['2026-07-28', '1999-01-01', ''])(
      'offers the latest revision for the unknown revision %s',
      async (protocolVersion) => {
        const client = await RawSession.open(gateway.url, { protocolVersion });
        expect(client.initializeResult['protocolVersion']).toBe('2025-11-25');
      },
    );

    it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'])(
      'accepts the supported revision %s',
      async (protocolVersion) => {
        const client = await RawSession.open(gateway.url, { protocolVersion });
        expect(client.initializeResult['protocolVersion']).toBe(protocolVersion);
      },
    );

    it('is refused a second time in the same session', async () => {
      const params = { protocolVersion: '2025-11-25', capabilities: {} };
      expect(await refusal(session.post({ ...PING, method: 'initialize', params }))).toEqual([400, -32600]);
    });

    it('creates unguessable session ids of visible ASCII characters', async () => {
      const ids = await Promise.all([1, 2, 3].map(async () => (await RawSession.open(gateway.url)).id));
      expect(new Set(ids).size).toBe(3);
      for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{24,}$/);
    });
  });

  it('leaves the gateway working after all bad messages', async () => {
    expect(gateway.isRunning).toBe(true);
    expect((await session.request('ping')).result).toEqual({});
    expect(gateway.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
