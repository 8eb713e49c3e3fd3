import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { contents } from '../kit/scripted-server/scripted-resources.js';

/** JSON that changes when it is parsed and serialised, or that a typed SDK drops or refuses. */
const ODDITIES =
  '"tooBig":12345678901234567890,"one":1.0,"escapes":"caf\\u00e9 \\/","twice":1,"twice":2,"" : [ 1 ]';

/** Every byte value once, to detect a changed byte. */
const BLOB = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64');

const DEFINITION =
  '{"x":1.0,"uri":"file:///logs/app.log","name":"app.log","title":"The log","description":"All of it",' +
  '"mimeType":"text/plain","size":120,"annotations":{"audience":["user"],"priority":1.0},' +
  `"icons":[{"src":"a.png","y":1.0}],"_meta":{"vendor/x":1.0,${ODDITIES}},${ODDITIES}}`;
const TEMPLATE =
  '{"uriTemplate":"mcp://database/{table}/{id}","name":"rows","title":"Rows","description":"Any row",' +
  `"mimeType":"application/json","annotations":{"priority":0.0},${ODDITIES}}`;

const mixed = (uri: string): string =>
  `{"contents":[{"uri":"${uri}","mimeType":"text/plain; charset=utf-8","text":"a\\u0000b \\ud83d\\ude00 café",${ODDITIES}},` +
  `{"blob":"${BLOB}","mimeType":"image/png","uri":"file:///logs/app.png"}],"_meta":{${ODDITIES}},"ttl":1.0}`;

describe('resources', () => {
  let logs: ScriptedServer;
  let db: ScriptedServer;
  let bare: ScriptedServer;
  let empty: ScriptedServer;
  let gateway: Gateway;
  let session: RawSession;

  beforeAll(async () => {
    [logs, db] = await Promise.all([ScriptedServer.start(), ScriptedServer.start()]);
    [bare, empty] = await Promise.all([ScriptedServer.start(), ScriptedServer.start()]);
    logs
      .resource('file:///logs/app.log', () => mixed('file:///logs/app.log'), DEFINITION)
      .resource('file:///logs/app.png')
      .resource('log://slow', (call) => {
        call.progress(1, 2);
        return contents('log://slow');
      })
      .resource('shared://settings', () => contents('shared://settings', 'of logs'))
      .resource('ui://viewer/index.html', () => contents('ui://viewer/index.html', '<html>'))
      .tool(
        'link',
        () => ({
          content: [
            { type: 'resource_link', uri: 'file:///logs/app.png', name: 'picture', x: 1 },
            { type: 'resource', resource: { uri: 'ui://viewer/index.html', text: 'embedded' } },
            { type: 'text', text: 'resource file:///logs/app.png' },
          ],
          structuredContent: { uri: 'file:///logs/app.png' },
          _meta: {
            ui: { resourceUri: 'ui://viewer/index.html', csp: 1 },
            'ui/resourceUri': 'ui://viewer/index.html',
          },
        }),
        '{"name":"link","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://viewer/index.html","visibility":["app"]}}}',
      )
      .prompt('explain', () => ({
        messages: [
          { role: 'user', content: { type: 'resource', resource: { uri: 'shared://settings', text: 'x' } } },
          { role: 'user', content: { type: 'resource_link', uri: 'log://today', name: 'today' } },
        ],
      }))
      .template('log://{day}');
    db.tool('query', () => text('rows'))
      .template('mcp://database/{table}/{id}', TEMPLATE)
      .template('mcp://database/users/{id}')
      .template('search://{+scope}{?q,limit}')
      .resource('x://replaced-by-the-scripted-list')
      .on('resources/list', ({ params }) => {
        const page = params['cursor'] === undefined ? 0 : (params['cursor'] as string).length;
        const uri = ['shared://settings', 'mcp://database/users/1', 'db://c', 'db://d', 'db://e'][page];
        return { resources: [{ uri, name: uri }], ...(page < 4 && { nextCursor: '.'.repeat(page + 1) }) };
      })
      .on('completion/complete', (call) => ({ completion: { values: [call.text] } }));
    bare.tool('only', () => text('only'));
    empty.on('initialize', () => ({
      protocolVersion: '2025-11-25',
      capabilities: { resources: {} },
      serverInfo: { name: 'empty', version: '1' },
    }));
    gateway = await startGateway({
      mcpServers: { logs: logs.stdio(), db: db.http, bare: bare.http, empty: empty.http },
      projects: { 'without-logs': { servers: ['db', 'bare'] } },
    });
    await gateway.listed({
      resources: ['logs', 'db'],
      resourceTemplates: ['logs', 'db'],
      tools: ['logs', 'db', 'bare'],
      prompts: ['logs'],
    });
    session = await RawSession.open(gateway.url);
  });

  const readRequests = (): number =>
    [logs, db, bare, empty].reduce((sum, one) => sum + one.countOf('resources/read'), 0);

  describe('are listed', () => {
    it('together, each once, in the order of their public URIs', async () => {
      const uris = (await session.list('resources')).map(({ uri }) => uri);
      expect(uris).toEqual([
        'resource://db/db://c',
        'resource://db/db://d',
        'resource://db/db://e',
        'resource://db/mcp://database/users/1',
        'resource://db/shared://settings',
        'resource://logs/file:///logs/app.log',
        'resource://logs/file:///logs/app.png',
        'resource://logs/log://slow',
        'resource://logs/shared://settings',
        'ui://logs/viewer/index.html',
      ]);
    });

    it('from every page of a server', () => {
      const asked = db.messages('resources/list').map(({ message }) => message.params?.['cursor']);
      expect(asked.slice(0, 5)).toEqual([undefined, '.', '..', '...', '....']);
    });

    it('as the server wrote them except for the URI and the added server and identifier', async () => {
      const { text: answer } = await session.request('resources/list');
      const marks = '"io.gatehouse/server":"logs","io.gatehouse/id":"logs_file___logs_app.log"';
      const listed = DEFINITION.replace('file:///', 'resource://logs/file:///').replace(
        '"" : [ 1 ]}',
        `"" : [ 1 ],${marks}}`,
      );
      expect(answer).toContain(listed);
    });

    it('with their templates in a list of their own', async () => {
      const templates = await session.list('resourceTemplates');
      expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual([
        'resource://db/mcp://database/users/{id}',
        'resource://db/mcp://database/{table}/{id}',
        'resource://db/search://{+scope}{?q,limit}',
        'resource://logs/log://{day}',
      ]);
      const { text: answer } = await session.request('resources/templates/list');
      const marks = '"io.gatehouse/server":"db","io.gatehouse/id":"db_mcp___database_{table}_{id}"';
      expect(answer).toContain(
        `${TEMPLATE.replace('mcp://', 'resource://db/mcp://').slice(0, -1)},"_meta":{${marks}}}`,
      );
    });

    it('from the catalog, without a request to any server', async () => {
      const before = [logs, db, bare, empty].map(({ received }) => received.length);
      await session.list('resources');
      await session.list('resourceTemplates');
      expect([logs, db, bare, empty].map(({ received }) => received.length)).toEqual(before);
    });

    it('only for servers with the capability: other servers get no list request', () => {
      expect(bare.countOf('resources/list') + bare.countOf('resources/templates/list')).toBe(0);
      expect(empty.countOf('resources/list')).toBeGreaterThan(0);
    });

    it('only for the servers of the project, and reads of other servers are refused there', async () => {
      const inside = await RawSession.open(gateway.urlOf('/projects/without-logs/mcp'));
      const uris = (await inside.list('resources')).map(({ uri }) => uri!);
      expect(uris).toHaveLength(5);
      expect(uris.every((uri) => uri.startsWith('resource://db/'))).toBe(true);
      expect(
        (await inside.list('resourceTemplates')).every(
          ({ _meta }) => _meta?.['io.gatehouse/server'] === 'db',
        ),
      ).toBe(true);
      const before = readRequests();
      for (const uri of [
        'resource://logs/file:///logs/app.log',
        'file:///logs/app.log',
        'logs_file___logs_app.log',
        'log://x',
      ])
        expect((await inside.read(uri)).error).toMatchObject({ code: -32002, data: { uri } });
      expect(readRequests()).toBe(before);
      // A URI that two servers share is unambiguous in a project with one of them.
      await inside.read('shared://settings');
      expect(db.messages('resources/read').at(-1)?.message.params).toEqual({ uri: 'shared://settings' });
    });

    it('only for the servers of the project that a single request names', async () => {
      const { result } = await session.request('resources/list', { _meta: { projectId: 'without-logs' } });
      expect(result?.['resources']).toHaveLength(5);
    });
  });

  describe('are read', () => {
    it('at their server, by its own URI, with all other params unchanged', async () => {
      await session.request(
        'resources/read',
        `{"x":1.0,"uri":"resource://logs/file:///logs/app.log","_meta":{${ODDITIES}}}`,
      );
      expect(logs.messages('resources/read').at(-1)!.text).toContain(
        `"params":{"x":1.0,"uri":"file:///logs/app.log","_meta":{${ODDITIES}}}`,
      );
    });

    it('byte for byte: texts, blobs and types are unchanged, only URIs become public', async () => {
      const { text: answer } = await session.read('resource://logs/file:///logs/app.log', 7);
      const expected = mixed('file:///logs/app.log').replaceAll('"file:///', '"resource://logs/file:///');
      expect(answer).toBe(`{"jsonrpc":"2.0","id":7,"result":${expected}}`);
    });

    it('at the named server when two servers have the same own URI', async () => {
      const ofLogs = await session.read('resource://logs/shared://settings');
      expect(ofLogs.result).toEqual(contents('resource://logs/shared://settings', 'of logs'));
      const ofDb = await session.read('resource://db/shared://settings');
      expect(ofDb.result).toEqual(contents('resource://db/shared://settings', 'read shared://settings'));
      expect((await session.read('shared://settings')).error).toMatchObject({ code: -32002 });
    });

    it('with the progress notifications of their server', async () => {
      const params = { uri: 'log://slow', _meta: { progressToken: 'mine' } };
      const { result, before } = await session.request('resources/read', params);
      expect(before).toEqual([
        expect.objectContaining({ params: { progressToken: 'mine', progress: 1, total: 2 } }),
      ]);
      expect(result).toEqual(contents('resource://logs/log://slow', 'read log://slow'));
    });

    it('with the scheme ui:// when they are user interfaces', async () => {
      const { result } = await session.read('ui://logs/viewer/index.html');
      expect(result).toEqual(contents('ui://logs/viewer/index.html', '<html>'));
    });

    it.each([
      ['mcp://database/orders/42', 'mcp://database/orders/42'],
      ['mcp://database/orders%2Fold/%7B42%7D', 'mcp://database/orders%2Fold/%7B42%7D'],
      ['mcp://database/users/1', 'mcp://database/users/1'],
      ['search://a/b/c?q=x%20y&limit=3', 'search://a/b/c?q=x%20y&limit=3'],
      ['search://a', 'search://a'],
    ])('through a template, with the values of the client (%s)', async (own, sent) => {
      for (const uri of [`resource://db/${own}`, own]) {
        const { result } = await session.read(uri);
        expect(result).toEqual(contents(`resource://db/${own}`, `read ${sent}`));
      }
    });

    it.each([
      'mcp://database/orders',
      'mcp://database/a/b/c',
      'mcp://databases/a/b',
      'log://a/b',
      'search:/x',
    ])('only when a template matches: otherwise no server gets a request (%s)', async (own) => {
      const before = readRequests();
      for (const uri of [own, `resource://db/${own}`, `resource://logs/${own}`])
        expect((await session.read(uri)).error).toEqual({
          code: -32002,
          message: `RESOURCE_NOT_FOUND: resource ${uri} is not available`,
          data: { uri },
        });
      expect(readRequests()).toBe(before);
    });
  });

  describe('have readable public URIs', () => {
    it('in a tool result: links, embedded resources and the user interface; nothing else is changed', async () => {
      const { result } = await session.callTool('logs__link');
      const ui = 'ui://logs/viewer/index.html';
      expect(result).toEqual({
        content: [
          { type: 'resource_link', uri: 'resource://logs/file:///logs/app.png', name: 'picture', x: 1 },
          { type: 'resource', resource: { uri: ui, text: 'embedded' } },
          { type: 'text', text: 'resource file:///logs/app.png' },
        ],
        structuredContent: { uri: 'file:///logs/app.png' },
        _meta: { ui: { resourceUri: ui, csp: 1 }, 'ui/resourceUri': ui },
      });
      for (const uri of ['resource://logs/file:///logs/app.png', ui])
        expect((await session.read(uri)).result).toBeDefined();
    });

    it('in the definition of a tool', async () => {
      const [tool] = (await session.list('tools')).filter(({ name }) => name === 'logs__link');
      const resourceUri = 'ui://logs/viewer/index.html';
      expect(tool).toMatchObject({ _meta: { ui: { resourceUri, visibility: ['app'] } } });
      expect((await session.read(resourceUri)).result).toEqual(contents(resourceUri, '<html>'));
    });

    it('in the messages of a prompt', async () => {
      const { result } = await session.request('prompts/get', { name: 'logs__explain' });
      const shared = 'resource://logs/shared://settings';
      const today = 'resource://logs/log://today';
      expect(result?.['messages']).toEqual([
        { role: 'user', content: { type: 'resource', resource: { uri: shared, text: 'x' } } },
        { role: 'user', content: { type: 'resource_link', uri: today, name: 'today' } },
      ]);
      expect((await session.read(today)).result).toEqual(contents(today, 'read log://today'));
    });
  });

  it.each([
    'resource://db/mcp://database/{table}/{id}',
    'mcp://database/{table}/{id}',
    'db_mcp___database_{table}_{id}',
  ])('complete template variables at their server for every form of the template URI (%s)', async (uri) => {
    const argument = { name: 'table', value: 'us' };
    const context = { arguments: { id: '1' } };
    const { result } = await session.request('completion/complete', {
      ref: { type: 'ref/resource', uri },
      argument,
      context,
    });
    const [received] = (result!['completion'] as { values: string[] }).values;
    expect(JSON.parse(received!)).toMatchObject({
      params: { ref: { type: 'ref/resource', uri: 'mcp://database/{table}/{id}' }, argument, context },
    });
  });

  it('refuse completion for an unknown template, and no server gets a request', async () => {
    const uri = 'mcp://nowhere/{x}';
    const asked = db.countOf('completion/complete');
    const { error } = await session.request('completion/complete', {
      ref: { type: 'ref/resource', uri },
      argument: { name: 'x', value: '' },
    });
    expect(error).toMatchObject({ code: -32602, data: { uri } });
    expect(db.countOf('completion/complete')).toBe(asked);
  });
});
