import { connect } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Message } from '../kit/events.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange, type RawRequest, type RawResponse } from '../kit/http.js';
import { BOTH_TYPES, postMessage, RawSession } from '../kit/raw-session.js';
import { ScriptedBackend, text } from '../kit/scripted-backend.js';
import { deferred, until, within } from '../kit/until.js';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const LIMIT = 4_194_304;

const errorOf = ({ text: body }: RawResponse): Message['error'] => (JSON.parse(body) as Message).error;

describe('bad input', () => {
  let gateway: Gateway;
  let backend: ScriptedBackend;
  let session: RawSession;
  let waiting = deferred();

  beforeAll(async () => {
    backend = await ScriptedBackend.start();
    backend
      .tool('wait', async (call) => {
        await Promise.race([waiting.promise, call.over]);
        return text('waited');
      })
      .tool('echo', (call) => text(call.text));
    gateway = await startGateway({ mcpServers: { s: backend.stdio() } });
    await gateway.listed({ tools: ['s'] });
    session = await RawSession.open(gateway.url);
  }, 30_000);

  afterEach(async () => {
    expect(gateway.isRunning).toBe(true);
    expect((await session.request('ping')).result).toEqual({});
    expect(gateway.logs.filter(({ level }) => level === 'error')).toEqual([]);
  });

  /** The status and the code, together with the id that the answer carries. */
  async function expectRefusal(
    response: Promise<RawResponse>,
    status: number,
    code: number,
  ): Promise<Message> {
    const answer = await response;
    expect([answer.status, errorOf(answer)?.code]).toEqual([status, code]);
    expect(answer.headers['content-type']).toBe('application/json');
    return JSON.parse(answer.text) as Message;
  }

  describe('in a body', () => {
    it.each<[string, string | Buffer]>([
      ['nothing at all', ''],
      ['half an object', '{"jsonrpc":"2.0","id":1,"method":"ping"'],
      ['words', 'ping'],
      ['single quotes', "{'jsonrpc':'2.0'}"],
      ['something after the object', `${JSON.stringify(PING)}{}`],
      ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
      ['a byte order mark', `\uFEFF${JSON.stringify(PING)}`],
      ['NaN', '{"jsonrpc":"2.0","id":NaN,"method":"ping"}'],
    ])('that is no JSON is a parse error (%s)', async (_what, body) => {
      const message = await expectRefusal(
        postMessage(gateway.url, body, { 'mcp-session-id': session.id }),
        400,
        -32700,
      );
      expect(message).not.toHaveProperty('id');
    });

    it.each<[string, unknown]>([
      ['a string', 'ping'],
      ['a number', 7],
      ['null', null],
      ['an empty object', {}],
      ['no version', { id: 1, method: 'ping' }],
      ['another version', { ...PING, jsonrpc: '1.0' }],
      ['a version that is no string', { ...PING, jsonrpc: 2 }],
      ['a method that is no string', { ...PING, method: 7 }],
      ['params that are a list', { ...PING, params: [] }],
      ['params that are a string', { ...PING, params: 'x' }],
      ['params that are null', { ...PING, params: null }],
      ['an id that is null', { ...PING, id: null }],
      ['an id that is no integer', { ...PING, id: 1.5 }],
      ['an id that is too big to be certain', { ...PING, id: 2 ** 60 }],
      ['an id that is an object', { ...PING, id: {} }],
      ['an id that is a boolean', { ...PING, id: true }],
      ['a result and an error', { jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: '' } }],
      ['an error that is none', { jsonrpc: '2.0', id: 1, error: 'no' }],
      ['an answer without id', { jsonrpc: '2.0', result: {} }],
    ])('that is JSON but not JSON-RPC is an invalid request (%s)', async (_what, body) => {
      await expectRefusal(session.post(JSON.stringify(body)), 400, -32600);
    });

    it('is answered under its id where that can be read, and without one where it cannot', async () => {
      const known = await expectRefusal(
        session.post({ jsonrpc: '1.0', id: 'x', method: 'ping' }),
        400,
        -32600,
      );
      expect(known.id).toBe('x');
      const unknown = await expectRefusal(
        session.post({ jsonrpc: '2.0', id: {}, method: 'ping' }),
        400,
        -32600,
      );
      expect(unknown).not.toHaveProperty('id');
    });

    it.each([0, '', -1, 'ü', 2 ** 53 - 1])('may have an id of any kind: %j is one', async (id) => {
      expect(await session.request('ping', {}, id)).toMatchObject({ id, result: {} });
    });

    it('that is deeply nested is answered like any other', async () => {
      const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
      const body = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"deep":${deep}}}`;
      expect((await session.post(body)).status).toBe(200);
    });
  });

  describe('in a batch', () => {
    it.each(['2025-11-25', '2025-06-18'])(
      'is refused where the revision has none (%s)',
      async (protocolVersion) => {
        const client = await RawSession.open(gateway.url, { protocolVersion });
        await expectRefusal(client.post([PING]), 400, -32600);
      },
    );

    it('is accepted in a session of 2025-03-26, and every request in it answered', async () => {
      const client = await RawSession.open(gateway.url, { protocolVersion: '2025-03-26' });
      const batch = [
        { ...PING, id: 'a' },
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', id: 'b', method: 'nope' },
        { nonsense: true },
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

    it('of notifications alone is accepted without a word', async () => {
      const client = await RawSession.open(gateway.url, { protocolVersion: '2025-03-26' });
      const response = await client.post([{ jsonrpc: '2.0', method: 'notifications/initialized' }]);
      expect([response.status, response.text]).toEqual([202, '']);
    });

    it.each([0, 21])('is refused when it is empty or too long (%d)', async (length) => {
      const client = await RawSession.open(gateway.url, { protocolVersion: '2025-03-26' });
      await expectRefusal(client.post(Array.from({ length }, () => PING)), 400, -32600);
    });
  });

  describe('in a method', () => {
    it.each(['nope', 'tools/call/x', '__proto__', 'constructor', '', 'notifications/initialized', 'Ping'])(
      'that nobody knows is -32601 (%s)',
      async (method) => {
        const { error } = await session.request(method);
        expect(error).toMatchObject({ code: -32601, message: `Method not found: ${method}` });
      },
    );

    it('is ignored in a notification that nobody knows', async () => {
      const response = await session.notify('notifications/nope', { a: 1 });
      expect([response.status, response.text]).toEqual([202, '']);
    });

    it('is ignored in an answer to nothing', async () => {
      const response = await session.post({ jsonrpc: '2.0', id: 99, result: {} });
      expect([response.status, response.text]).toEqual([202, '']);
    });

    it.each<[string, string, object]>([
      ['a tool that nobody has', 'tools/call', { name: 'unknown_tool' }],
      ['no tool', 'tools/call', {}],
      ['a tool name that is no string', 'tools/call', { name: 7 }],
      ['a second name in another case', 'tools/call', { name: 's__echo', Name: 's__wait' }],
      ['a prompt that nobody has', 'prompts/get', { name: 'unknown_prompt' }],
      ['no prompt', 'prompts/get', {}],
      ['a completion of nothing', 'completion/complete', {}],
      [
        'a completion of an unknown prompt',
        'completion/complete',
        { ref: { type: 'ref/prompt', name: 'x' } },
      ],
      ['a log level that does not exist', 'logging/setLevel', { level: 'loud' }],
      ['no log level', 'logging/setLevel', {}],
    ])('with params that make no sense is -32602 (%s)', async (_what, method, params) => {
      const before = backend.countOf(method);
      const { error } = await session.request(method, params);
      expect(error?.code).toBe(-32602);
      expect(backend.countOf(method)).toBe(before);
    });

    it('names the tool that nobody has', async () => {
      const { error } = await session.callTool('unknown_tool');
      expect(error?.message).toBe('Unknown tool: unknown_tool');
    });

    it('is refused under an id that is in flight, and the first request is not harmed', async () => {
      waiting = deferred();
      const before = backend.inFlight;
      const first = session.callTool('s__wait', {}, 'twice');
      await until('the first is in flight', () => backend.inFlight > before);
      const { error } = await session.callTool('s__wait', {}, 'twice');
      expect(error?.code).toBe(-32600);
      waiting.resolve();
      expect((await first).result).toEqual(text('waited'));
      expect((await session.request('ping', {}, 'twice')).result).toEqual({});
    });

    it('finds prototypes untouched by what arguments are called', async () => {
      const args = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
      const { result } = await session.request('tools/call', `{"name":"s__echo","arguments":${args}}`);
      expect(JSON.stringify(result)).toContain(JSON.stringify(args).slice(1, -1));
    });
  });

  describe('in a handshake', () => {
    it.each<[string, unknown]>([
      ['no params', undefined],
      ['no version', { capabilities: {}, clientInfo: { name: 'x', version: '1' } }],
      ['a version that is no string', { protocolVersion: 1, capabilities: {} }],
      ['capabilities that are no object', { protocolVersion: '2025-11-25', capabilities: 'all' }],
    ])('is -32602, and makes no session (%s)', async (_what, params) => {
      const response = await postMessage(gateway.url, { ...PING, method: 'initialize', params });
      expect(errorOf(response)?.code).toBe(-32602);
      expect(response.headers).not.toHaveProperty('mcp-session-id');
    });

    it.each(['2026-07-28', '1999-01-01', ''])(
      'is no reason to refuse an unknown revision: the latest we speak is offered (%s)',
      async (protocolVersion) => {
        const client = await RawSession.open(gateway.url, { protocolVersion });
        expect(client.initializeResult['protocolVersion']).toBe('2025-11-25');
      },
    );

    it.each(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'])(
      'is none where the revision is one we speak (%s)',
      async (protocolVersion) => {
        const client = await RawSession.open(gateway.url, { protocolVersion });
        expect(client.initializeResult['protocolVersion']).toBe(protocolVersion);
      },
    );

    it('is a second one in the same session', async () => {
      const params = { protocolVersion: '2025-11-25', capabilities: {} };
      await expectRefusal(session.post({ ...PING, method: 'initialize', params }), 400, -32600);
    });

    it('makes session ids that nobody can guess, in characters that a header may carry', async () => {
      const ids = await Promise.all([1, 2, 3].map(async () => (await RawSession.open(gateway.url)).id));
      expect(new Set(ids).size).toBe(3);
      for (const id of ids) expect(id).toMatch(/^[\x21-\x7e]{24,}$/);
    });
  });

  describe('in headers', () => {
    const post = (headers: Record<string, string>, body: object = PING): Promise<RawResponse> =>
      exchange(gateway.url, {
        method: 'POST',
        headers: { accept: BOTH_TYPES, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const inSession = (headers: Record<string, string> = {}): Promise<RawResponse> =>
      post({ 'mcp-session-id': session.id, ...headers });

    it.each([
      'application/json',
      'text/event-stream',
      'text/html',
      '',
      'application/json;q=0, text/event-stream',
    ])('that take less than both kinds of answer are 406 (%s)', async (accept) => {
      await expectRefusal(inSession({ accept }), 406, -32000);
    });

    it.each([
      BOTH_TYPES,
      '*/*',
      'application/*, text/*',
      'TEXT/EVENT-STREAM, Application/JSON',
      `x/y, ${BOTH_TYPES};q=0.5`,
    ])('that take both kinds are fine, however they say it (%s)', async (accept) => {
      expect((await inSession({ accept })).status).toBe(200);
    });

    it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
      'that do not announce JSON are 415 (%s)',
      async (contentType) => {
        await expectRefusal(inSession({ 'content-type': contentType }), 415, -32000);
      },
    );

    it('may say which characters the JSON is written in', async () => {
      expect((await inSession({ 'content-type': 'application/json; charset=utf-8' })).status).toBe(200);
    });

    it('without a session are 400', async () => {
      await expectRefusal(post({}), 400, -32000);
      await expectRefusal(exchange(gateway.url, { headers: { accept: 'text/event-stream' } }), 400, -32000);
      await expectRefusal(exchange(gateway.url, { method: 'DELETE' }), 400, -32000);
    });

    it('with a session that does not exist are 404 and -32001, for every verb', async () => {
      const gone = await RawSession.open(gateway.url);
      await gone.end();
      for (const id of [gone.id, 'never-was', '__proto__']) {
        const headers = { 'mcp-session-id': id };
        await expectRefusal(post(headers), 404, -32001);
        const stream: RawRequest = { headers: { ...headers, accept: 'text/event-stream' } };
        await expectRefusal(exchange(gateway.url, stream), 404, -32001);
        await expectRefusal(exchange(gateway.url, { method: 'DELETE', headers }), 404, -32001);
      }
    });

    it.each(['2026-07-28', '1.0', 'x'])(
      'of an unknown MCP-Protocol-Version are 400 (%s)',
      async (version) => {
        await expectRefusal(inSession({ 'mcp-protocol-version': version }), 400, -32000);
      },
    );

    it.each([
      'http://evil.example',
      'null',
      'http://localhost.evil.example',
      'http://evil.example?http://localhost',
      'http://localhost@evil.example',
      'file://localhost',
    ])('of a strange Origin are 403, on every path (%s)', async (origin) => {
      await expectRefusal(inSession({ origin }), 403, -32000);
      for (const path of ['/health/live', '/health/ready', '/nope'])
        expect((await exchange(gateway.urlOf(path), { headers: { origin } })).status).toBe(403);
    });

    it.each(['http://localhost:5173', 'http://127.0.0.1', 'https://localhost'])(
      'of an Origin on this machine are fine (%s)',
      async (origin) => {
        const response = await inSession({ origin });
        expect(response.status).toBe(200);
        expect(response.headers['access-control-allow-origin']).toBe(origin);
      },
    );

    it.each(['evil.example', 'evil.example:80', 'localhost.evil.example', '127.0.0.1.evil.example'])(
      'of a strange Host are 403 (%s)',
      async (host) => {
        await expectRefusal(inSession({ host }), 403, -32000);
      },
    );

    it.each(['localhost', 'LOCALHOST:3000', '127.0.0.1', '[::1]:80'])(
      'of a Host of ours are fine (%s)',
      async (host) => {
        expect((await inSession({ host })).status).toBe(200);
      },
    );

    it('let orchestrators ask for health under any name', async () => {
      const headers = { host: '10.0.0.7:3000' };
      expect((await exchange(gateway.urlOf('/health/live'), { headers })).status).toBe(200);
    });
  });

  it.each(['PUT', 'PATCH', 'HEAD', 'TRACE'])(
    'by a verb that means nothing here is 405 (%s)',
    async (method) => {
      const response = await exchange(gateway.url, { method, headers: { 'mcp-session-id': session.id } });
      expect(response.status).toBe(405);
      expect(response.headers['allow']).toContain('POST');
    },
  );

  it('at a path that is none is 404', async () => {
    for (const path of ['/', '/mcp/', '/mcp/x', '/MCP'])
      expect((await exchange(gateway.urlOf(path), { headers: { accept: '*/*' } })).status).toBe(404);
  });

  describe('in size', () => {
    const padded = (size: number): string => {
      const start = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":"';
      return `${start}${'x'.repeat(size - start.length - 3)}"}}`;
    };

    it('is fine up to the limit', async () => {
      expect((await session.post(padded(LIMIT))).status).toBe(200);
    });

    it('is 413 beyond it, by what was announced', async () => {
      await expectRefusal(session.post(padded(LIMIT + 1)), 413, -32000);
    });

    it('is 413 beyond it, by what has come, when nothing was announced', async () => {
      const headers = { ...MESSAGE, 'mcp-session-id': session.id, 'transfer-encoding': 'chunked' };
      await expectRefusal(
        exchange(gateway.url, { method: 'POST', headers, body: padded(LIMIT + 1) }),
        413,
        -32000,
      );
    });

    it('is not taken in before it is refused: an endless body is cut off', async () => {
      const { hostname, port } = new URL(gateway.url);
      const socket = connect(Number(port), hostname);
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      let said = '';
      socket.on('data', (data) => (said += data.toString())).on('error', () => {});
      const head = Object.entries({ ...MESSAGE, host: 'localhost', 'mcp-session-id': session.id });
      socket.write(
        `POST /mcp HTTP/1.1\r\n${head.map(([key, value]) => `${key}: ${value}`).join('\r\n')}\r\n`,
      );
      socket.write('transfer-encoding: chunked\r\n\r\n');
      const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
      let written = 0;
      const pump = (): void => {
        while (!socket.destroyed && written < 64 * LIMIT && socket.write(chunk)) written += chunk.length;
      };
      socket.on('drain', pump);
      pump();
      await within('the connection to be closed', closed);
      expect(said).toMatch(/^HTTP\/1\.1 413 /);
      expect(written).toBeLessThan(64 * LIMIT);
    });

    const MESSAGE = { accept: BOTH_TYPES, 'content-type': 'application/json' };
  });
});
