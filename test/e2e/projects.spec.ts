import { beforeAll, describe, expect, it } from '@jest/globals';
import { hashOf } from '../../src/config/api-key-config.js';
import type { Events } from '../kit/events.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { postMessage, RawSession, textIn, type Answer, type SessionOptions } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { connectV1, connectV2 } from '../kit/sdk-clients.js';
import { until } from '../kit/until.js';

const TOOLS_CHANGED = 'notifications/tools/list_changed';
const MESSAGE = 'notifications/message';
const LONG_KEY = 'io.gatehouse/projectId';

const PROJECTS = {
  red: { servers: ['left'] },
  blue: { servers: ['right'] },
  both: { servers: ['left', 'right'] },
};
const inLeft = ['left__only_left', 'left__shared'];
const inRight = ['right__only_right', 'right__shared'];

async function startScripted(id: string): Promise<ScriptedServer> {
  const server = await ScriptedServer.start();
  for (const tool of ['shared', `only_${id}`]) server.tool(tool, () => text(`from ${id}`));
  return server
    .prompt('greet', () => ({ messages: [], description: id }))
    .on('completion/complete', () => ({ completion: { values: [id] } }))
    .on('initialize', () => ({
      protocolVersion: '2025-11-25',
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
      serverInfo: { name: id, version: '1' },
      instructions: `how to use ${id}`,
    }));
}

const names = async (client: RawSession, kind: 'tools' | 'prompts' = 'tools'): Promise<string[]> =>
  (await client.list(kind)).map(({ name }) => name);

const complete = (client: RawSession, name: string, id?: number): Promise<Answer> =>
  client.request(
    'completion/complete',
    { ref: { type: 'ref/prompt', name }, argument: { name: 'a', value: '' } },
    id,
  );

/** The whole response to an `initialize` at a URL, without the `Date` header. */
async function refusal(url: string, headers: Record<string, string> = {}, meta?: object): Promise<string> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
    ...(meta && { _meta: meta }),
  };
  const answer = await postMessage(url, { jsonrpc: '2.0', id: 1, method: 'initialize', params }, headers);
  expect(answer.headers).not.toHaveProperty('mcp-session-id');
  return JSON.stringify([answer.status, { ...answer.headers, date: undefined }, answer.text]);
}

/** Two servers, each in its own project, and one project with both. */
describe('a project', () => {
  let left: ScriptedServer;
  let right: ScriptedServer;
  let gateway: Gateway;
  let session: RawSession;

  beforeAll(async () => {
    [left, right] = await Promise.all([startScripted('left'), startScripted('right')]);
    gateway = await startGateway({
      mcpServers: { left: left.http, right: right.stdio() },
      projects: PROJECTS,
      limits: { pageSize: 1 },
    });
    await gateway.listed({ tools: ['left', 'right'], prompts: ['left', 'right'] });
    session = await RawSession.open(gateway.url);
  });

  const at = (project: string): string => gateway.urlOf(`/projects/${project}/mcp`);
  const open = (introduction?: SessionOptions): Promise<RawSession> =>
    RawSession.open(gateway.url, introduction);

  /** The names on the first page, of a request with these params and headers. */
  async function named(params: object, headers: Record<string, string> = {}): Promise<string[]> {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params };
    const { result } = JSON.parse((await session.post(body, headers)).text) as Answer;
    return (result!['tools'] as { name: string }[]).map(({ name }) => name);
  }

  describe('is named', () => {
    it('by the path, and its session lists only the tools of its servers', async () => {
      expect(await names(await RawSession.open(at('red')))).toEqual(inLeft);
      expect(await names(await RawSession.open(at('blue')))).toEqual(inRight);
      expect(await names(await RawSession.open(at('both')))).toEqual([...inLeft, ...inRight]);
    });

    it.each(['X-Gatehouse-Project', 'X-MCPR-Project'])('by the header %s', async (header) => {
      expect(await names(await open({ headers: { [header]: 'blue' } }))).toEqual(inRight);
    });

    it('by the metadata of a request, for that request', async () => {
      for (const key of ['projectId', LONG_KEY]) {
        expect(await named({ _meta: { [key]: 'red' } })).toEqual([inLeft[0]]);
        expect(await named({ _meta: { [key]: 'blue' } })).toEqual([inRight[0]]);
      }
    });

    it('by a header of one request, for that request', async () => {
      expect(await named({}, { 'x-gatehouse-project': 'blue' })).toEqual([inRight[0]]);
      expect(await names(session)).toEqual([...inLeft, ...inRight]);
    });

    it('by the metadata of initialize, for the session', async () => {
      const params = {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'x', version: '1' },
        _meta: { projectId: 'blue' },
      };
      const { headers } = await postMessage(gateway.url, {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params,
      });
      const list = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} };
      const answer = await postMessage(gateway.url, list, {
        'mcp-session-id': String(headers['mcp-session-id']),
      });
      expect(answer.text).toContain(inRight[0]);
      expect(answer.text).not.toContain('left');
    });

    it('optionally: without one, the lists contain all servers', async () => {
      expect(await names(session)).toEqual([...inLeft, ...inRight]);
      expect(await names(session, 'prompts')).toEqual(['left__greet', 'right__greet']);
      expect(session.initializeResult['instructions']).toBe(
        '# left\n\nhow to use left\n\n# right\n\nhow to use right',
      );
    });

    it.each([connectV1, connectV2])('by the path in an SDK client (%p)', async (connect) => {
      const client = await connect(at('red'));
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name.split('__')[0])).toContain('left');
      expect(JSON.stringify(tools)).not.toContain('right');
      await expect(client.callTool({ name: 'right__shared' })).rejects.toMatchObject({ code: -32602 });
    });
  });

  describe('limits', () => {
    let red: RawSession;

    beforeAll(async () => {
      red = await RawSession.open(at('red'));
    });

    it('the lists and the instructions', async () => {
      expect(await names(red)).toEqual(inLeft);
      expect(await names(red, 'prompts')).toEqual(['left__greet']);
      expect(red.initializeResult['instructions']).toBe('# left\n\nhow to use left');
    });

    it('the calls, prompts and completions', async () => {
      expect(textIn(await red.callTool('left__shared'))).toBe('from left');
      expect((await red.request('prompts/get', { name: 'left__greet' })).result).toMatchObject({
        description: 'left',
      });
      expect((await complete(red, 'left__greet')).result).toEqual({ completion: { values: ['left'] } });
    });

    it('bare names to its servers, so that a name shared with other servers is not ambiguous', async () => {
      expect(textIn(await red.callTool('shared'))).toBe('from left');
      expect((await session.callTool('shared')).error).toMatchObject({ code: -32602 });
    });

    it.each<[string, (client: RawSession, name: string) => Promise<Answer>, string]>([
      ['tool', (client, name) => client.callTool(name, {}, 7), 'right__shared'],
      ['tool, by its bare name', (client, name) => client.callTool(name, {}, 7), 'only_right'],
      ['prompt', (client, name) => client.request('prompts/get', { name }, 7), 'right__greet'],
      ['completion', (client, name) => complete(client, name, 7), 'right__greet'],
    ])('visibility: a %s of another project is answered like an unknown one', async (_case, ask, name) => {
      const before = right.received.length;
      const none = name.replaceAll('right', 'wrong').replaceAll('greet', 'groot');
      const [outside, missing] = [await ask(red, name), await ask(red, none)];
      expect(outside.error).toMatchObject({ code: -32602 });
      expect(outside.text.replaceAll(name, none)).toBe(missing.text);
      expect(right.received).toHaveLength(before);
    });

    it('cursors: a cursor of another project is refused', async () => {
      const { result } = await (await RawSession.open(at('blue'))).request('tools/list');
      const { error } = await red.request('tools/list', { cursor: result!['nextCursor'] });
      expect(error).toMatchObject({ code: -32602 });
    });
  });

  describe('selection', () => {
    it('answers an unknown project with an error, in whichever way it is named', async () => {
      const expected = /"code\\":-32602.*Unknown project: nope/;
      expect(await refusal(at('nope'))).toMatch(expected);
      expect(await refusal(gateway.url, { 'x-gatehouse-project': 'nope' })).toMatch(expected);
      expect(await refusal(gateway.url, { 'x-mcpr-project': 'nope' })).toMatch(expected);
      expect(await refusal(gateway.url, {}, { projectId: 'nope' })).toMatch(expected);
      expect(await refusal(gateway.url, {}, { [LONG_KEY]: 'nope' })).toMatch(expected);
      const { error } = await session.request('tools/list', { _meta: { projectId: 'nope' } });
      expect(error).toMatchObject({ code: -32602, message: 'Unknown project: nope' });
    });

    it.each(['RED', 're%64', 'red%00', '*', '__proto__', 'red%2Fmcp'])(
      'does not normalise the id in the path: %s is unknown',
      async (id) => {
        expect(await refusal(at(id))).toMatch(/Unknown project/);
      },
    );

    it('answers a forbidden project byte for byte like an unknown one', async () => {
      const apiKeys = [{ id: 'k', hash: hashOf('secret-key'), projects: ['red'] }];
      const guarded = await startGateway({
        mcpServers: { left: left.http, right: right.http },
        projects: PROJECTS,
        auth: { apiKeys },
      });
      const headers = { authorization: 'Bearer secret-key' };
      const place = (id: string): string => guarded.urlOf(`/projects/${id}/mcp`);
      const [forbidden, unknown] = [
        await refusal(place('blue'), headers),
        await refusal(place('gray'), headers),
      ];
      expect(forbidden).toContain('Unknown project: blue');
      expect(forbidden.replaceAll('blue', 'gray')).toBe(unknown);
      const client = await RawSession.open(guarded.url, { headers });
      const ask = (projectId: string): Promise<Answer> =>
        client.request('tools/call', { name: 'left__shared', _meta: { projectId } }, 1);
      expect((await ask('blue')).text.replaceAll('blue', 'gray')).toBe((await ask('gray')).text);
    });

    it.each<[string, string, Record<string, string>, object | undefined]>([
      ['path and header', '/projects/red/mcp', { 'x-gatehouse-project': 'blue' }, undefined],
      ['the two headers', '/mcp', { 'x-gatehouse-project': 'red', 'x-mcpr-project': 'blue' }, undefined],
      ['path and metadata', '/projects/red/mcp', {}, { projectId: 'blue' }],
      ['header and metadata', '/mcp', { 'x-mcpr-project': 'red' }, { [LONG_KEY]: 'blue' }],
      ['the two metadata', '/mcp', {}, { projectId: 'red', [LONG_KEY]: 'blue' }],
    ])('refuses two different projects in one request: %s', async (_case, path, headers, meta) => {
      const answer = await refusal(gateway.urlOf(path), headers, meta);
      expect(answer).toMatch(/"code\\":-32602.*must name the same project/);
    });

    it('accepts the same project in path, headers and metadata', async () => {
      const headers = { 'x-gatehouse-project': 'red', 'x-mcpr-project': 'red' };
      const client = await RawSession.open(at('red'), { headers });
      const { result } = await client.request('tools/list', {
        _meta: { projectId: 'red', [LONG_KEY]: 'red' },
      });
      expect(JSON.stringify(result)).toContain(inLeft[0]);
    });

    it.each([null, 7, ['red'], { id: 'red' }])(
      'refuses a projectId that is not a string: %j',
      async (projectId) => {
        const { error } = await session.request('tools/list', { _meta: { projectId } });
        expect(error).toMatchObject({ code: -32602, message: '_meta.projectId must be a string' });
      },
    );

    it('refuses an empty header', async () => {
      expect(await refusal(gateway.url, { 'x-gatehouse-project': '' })).toContain('[400,');
    });
  });

  describe('session', () => {
    it('refuses a request that names another project', async () => {
      const red = await RawSession.open(at('red'));
      const elsewhere = [
        await red.request('tools/list', { _meta: { projectId: 'blue' } }),
        JSON.parse(
          (await red.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'x-mcpr-project': 'blue' }))
            .text,
        ) as Answer,
      ];
      for (const { error } of elsewhere) expect(error).toMatchObject({ code: -32602 });
      const atRoot = await postMessage(
        gateway.url,
        { jsonrpc: '2.0', id: 1, method: 'tools/list' },
        { 'mcp-session-id': red.id },
      );
      expect(atRoot.text).toContain(inLeft[0]);
    });

    it('is not found at the path of another project', async () => {
      const red = await RawSession.open(at('red'));
      const stream = await red.listen();
      const headers = { 'mcp-session-id': red.id, accept: 'text/event-stream' };
      for (const method of ['GET', 'DELETE'])
        expect((await exchange(at('blue'), { method, headers })).status).toBe(404);
      const post = await postMessage(at('blue'), { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
      expect(post.text).not.toContain('__');
      expect(stream.hasEnded).toBe(false);
      expect((await red.request('ping')).result).toEqual({});
    });

    it('is not found at the path of a project when it was opened without one', async () => {
      const headers = { 'mcp-session-id': session.id, accept: 'text/event-stream' };
      for (const method of ['GET', 'DELETE'])
        expect((await exchange(at('red'), { method, headers })).status).toBe(404);
      expect((await session.request('ping')).result).toEqual({});
    });
  });

  describe('limits notifications', () => {
    const streams = new Map<string, Events>();

    beforeAll(async () => {
      for (const path of ['/projects/red/mcp', '/projects/blue/mcp', '/projects/both/mcp', '/mcp']) {
        const client = await RawSession.open(gateway.urlOf(path));
        await client.request('logging/setLevel', { level: 'debug' });
        streams.set(path, await client.listen());
      }
    });

    const counts = (method: string): number[] => [...streams.values()].map((stream) => stream.count(method));

    it('a list change reaches exactly the sessions whose project has the server, once', async () => {
      right.tool('added', () => text('new'));
      right.broadcast(TOOLS_CHANGED);
      await until(
        'the list change of right arrives',
        () => counts(TOOLS_CHANGED).slice(1).join() === '1,1,1',
      );
      expect(counts(TOOLS_CHANGED)).toEqual([0, 1, 1, 1]);
      left.tool('added', () => text('new'));
      left.broadcast(TOOLS_CHANGED);
      await until('the list change of left arrives', () => counts(TOOLS_CHANGED).join() === '1,1,2,2');
    });

    it('a log message reaches exactly the sessions whose project has the server', async () => {
      const haveReceived = (data: string): boolean[] =>
        [...streams.values()].map((stream) =>
          stream.messages.some(({ params }) => params?.['data'] === data),
        );
      const sentUntil = (server: ScriptedServer, data: string, expected: readonly boolean[]): Promise<true> =>
        // Dropped while a call has ended within the last second.
        until(`${data} arrives`, () => {
          server.broadcast(MESSAGE, { level: 'error', data });
          return haveReceived(data).join() === expected.join();
        });
      await sentUntil(right, 'of right', [false, true, true, true]);
      await sentUntil(left, 'of left', [true, false, true, true]);
      expect(JSON.stringify(streams.get('/projects/red/mcp')!.messages)).not.toContain('right');
    });
  });
});
