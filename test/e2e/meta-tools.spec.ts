import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession, textIn } from '../kit/raw-session.js';
import { connectModern, connectV1, connectV2, type ClientV1, type ClientV2 } from '../kit/sdk-clients.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { until } from '../kit/until.js';

const META_TOOLS = [
  'catalog_resource_templates',
  'catalog_resources',
  'catalog_tools',
  'describe_resource',
  'describe_tool',
  'search_resources',
  'search_tools',
];

const defined = (definition: object): string => JSON.stringify(definition);

interface Result {
  readonly isError?: boolean;
  readonly structuredContent?: Record<string, unknown>;
  readonly content: readonly { readonly text: string }[];
}
type Summary = Record<string, unknown>;

const startServerWithDescribeTool = async (server: string): Promise<ScriptedServer> =>
  (await ScriptedServer.start()).tool('describe_tool', () => text(`the own one of ${server}`));

describe('meta tools', () => {
  let files: ScriptedServer;
  let wiki: ScriptedServer;
  let gateway: Gateway;
  let v1: ClientV1;
  let v2: ClientV2;
  let modern: ClientV2;
  let session: RawSession;

  beforeAll(async () => {
    [files, wiki] = await Promise.all([ScriptedServer.start(), ScriptedServer.start()]);
    const file = (name: string, more: object): void => {
      const uri = `file:///srv/${name}`;
      files.resource(uri, undefined, defined({ uri, name, ...more }));
    };
    file('budget-2024.csv', {
      mimeType: 'text/csv',
      size: 512,
      title: 'Budget',
      description: 'Plan of the year',
    });
    file('incident.md', { mimeType: 'text/markdown', description: 'What broke the payment service' });
    file('logo.png', { mimeType: 'image/png', annotations: { priority: 1 }, _meta: { 'vendor/x': 1 } });
    file('notes.md', { mimeType: 'text/markdown; charset=utf-8', description: 'Mentions the budget once' });
    files
      .template(
        'file:///srv/{name}',
        defined({ uriTemplate: 'file:///srv/{name}', name: 'any file', description: 'Files by name' }),
      )
      .tool(
        'read_text',
        () => text('read'),
        defined({
          name: 'read_text',
          title: 'Read a text',
          description: 'Reads the text of a file',
          inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
        }),
      )
      .tool('search_tools', () => text('the own one of files'));
    wiki
      .resource(
        'wiki://payment',
        undefined,
        defined({
          uri: 'wiki://payment',
          name: 'Payment',
          description: 'The payment service',
          mimeType: 'text/html',
        }),
      )
      .template('wiki://{page}{#section}')
      .tool(
        'edit_page',
        () => text('edited'),
        defined({ name: 'edit_page', inputSchema: { type: 'object' } }),
      );
    gateway = await startGateway({
      metaTools: true,
      http: { modern: true },
      mcpServers: {
        files: files.http,
        wiki: wiki.stdio(),
        odd: { ...(await startServerWithDescribeTool('odd')).http, naming: { tools: 'conflict' } },
        plain: { ...(await startServerWithDescribeTool('plain')).http, naming: { tools: 'never' } },
      },
      projects: {
        reading: { servers: ['wiki'] },
        files: { servers: ['files'] },
        odd: { servers: ['odd'] },
        plain: { servers: ['plain'] },
      },
    });
    const both = ['files', 'wiki'];
    await gateway.listed({ tools: [...both, 'odd'], resources: both, resourceTemplates: both });
    await gateway.logged({ level: 'warn', server: 'plain', name: 'describe_tool' });
    [v1, v2] = [await connectV1(gateway.url), await connectV2(gateway.url)];
    modern = await connectModern(gateway.url);
    // A client that has listed the tools checks every result against the listed schema.
    await Promise.all([v1.listTools(), v2.listTools(), modern.listTools()]);
    session = await RawSession.open(gateway.url);
  });

  /** Calls with both SDKs, and in both eras, which must get the same result. */
  async function call(name: string, args: object = {}): Promise<Result> {
    const request = { name, arguments: args as Record<string, unknown> };
    const one = await v1.callTool(request);
    for (const other of [v2, modern]) {
      const { content, isError, structuredContent } = await other.callTool(request);
      expect({ content, isError, structuredContent }).toEqual({
        content: one.content,
        isError: one.isError,
        structuredContent: one.structuredContent,
      });
    }
    return one as unknown as Result;
  }

  async function found(name: string, args: object, member: string, by: string): Promise<unknown[]> {
    const { structuredContent, isError } = await call(name, args);
    expect(isError).toBeUndefined();
    return (structuredContent![member] as Summary[]).map((summary) => summary[by]);
  }

  it('are listed under their own names, with input and output schemas', async () => {
    const tools = await session.list('tools');
    const metaTools = tools.filter(({ _meta }) => _meta?.['io.gatehouse/server'] === 'gatehouse');
    expect(metaTools.map(({ name }) => name)).toEqual(META_TOOLS);
    for (const tool of metaTools)
      expect(tool).toMatchObject({
        description: expect.any(String),
        inputSchema: { type: 'object', additionalProperties: false },
        outputSchema: { type: 'object' },
        annotations: { readOnlyHint: true },
      });
  });

  it('answer with structured content and the same as text', async () => {
    for (const [name, args] of [
      ['catalog_resources', {}],
      ['search_tools', { query: 'text' }],
      ['describe_resource', { uri: 'wiki://payment' }],
    ] as const) {
      const { structuredContent, content } = await call(name, args);
      expect(JSON.parse(content[0]!.text)).toEqual(structuredContent);
    }
  });

  describe('of resources', () => {
    it('catalog_resources lists summaries, of all servers or of one', async () => {
      const { structuredContent } = await call('catalog_resources');
      const summaries = structuredContent!['resources'] as Summary[];
      expect(summaries).toHaveLength(5);
      expect(summaries[0]).toEqual({
        uri: 'resource://files/file:///srv/budget-2024.csv',
        name: 'budget-2024.csv',
        title: 'Budget',
        mimeType: 'text/csv',
        size: 512,
        serverId: 'files',
      });
      expect(await found('catalog_resources', { serverId: 'wiki' }, 'resources', 'uri')).toEqual([
        'resource://wiki/wiki://payment',
      ]);
      expect(await found('catalog_resources', { serverId: 'unknown' }, 'resources', 'uri')).toEqual([]);
    });

    it('catalog_resources pages with a cursor that other lists refuse', async () => {
      const uris: unknown[] = [];
      let cursor: unknown;
      do {
        const { structuredContent } = await call('catalog_resources', { limit: 2, cursor });
        const page = structuredContent!['resources'] as Summary[];
        expect(page.length).toBeLessThanOrEqual(2);
        uris.push(...page.map(({ uri }) => uri));
        cursor = structuredContent!['nextCursor'];
      } while (cursor !== undefined);
      expect(uris).toEqual((await session.list('resources')).map(({ uri }) => uri));
      const { structuredContent } = await call('catalog_resources', { limit: 1 });
      const genuine = structuredContent!['nextCursor'];
      for (const [name, args] of [
        ['catalog_resources', { cursor: `${String(genuine)}A` }],
        ['catalog_resources', { cursor: 'invented' }],
        ['catalog_resources', { cursor: genuine, serverId: 'files' }],
        ['catalog_resource_templates', { cursor: genuine }],
        ['catalog_tools', { cursor: genuine }],
      ] as const) {
        const { error } = await session.callTool(name, args);
        expect([name, error?.code]).toEqual([name, -32602]);
      }
    });

    it.each(['resource://files/file:///srv/logo.png', 'file:///srv/logo.png', 'files_file___srv_logo.png'])(
      'describe_resource returns the definition of a resource by each form of its name (%s)',
      async (uri) => {
        const { structuredContent } = await call('describe_resource', { uri });
        const [listed] = (await session.list('resources')).filter(({ name }) => name === 'logo.png');
        expect(structuredContent).toEqual({ resource: listed });
        expect(listed).toMatchObject({ annotations: { priority: 1 }, _meta: { 'vendor/x': 1 } });
      },
    );

    it.each(['resource://files/file:///srv/other', 'file:///srv/{name}', 'files_file___srv_{name}'])(
      'describe_resource returns the template that matches or equals a URI (%s)',
      async (uri) => {
        const { structuredContent } = await call('describe_resource', { uri });
        expect(structuredContent).toMatchObject({
          resourceTemplate: {
            uriTemplate: 'resource://files/file:///srv/{name}',
            description: 'Files by name',
          },
        });
      },
    );

    it('describe_resource refuses an unknown resource', async () => {
      const result = await call('describe_resource', { uri: 'nowhere://x' });
      expect(result).toMatchObject({ isError: true });
      expect(result.content[0]!.text).toBe('RESOURCE_NOT_FOUND: resource nowhere://x is not available');
    });

    it.each<[string, object, string[]]>([
      ['the better match first', { query: 'budget' }, ['budget-2024.csv', 'notes.md']],
      ['any matching word, more words rank higher', { query: 'broke service' }, ['incident.md', 'Payment']],
      ['a prefix', { query: 'incid' }, ['incident.md']],
      ['a typo', { query: 'bugdet' }, ['budget-2024.csv', 'notes.md']],
      ['the URI', { query: 'wiki' }, ['Payment']],
      ['the type', { query: 'png' }, ['logo.png']],
      ['of one type only', { query: 'budget', mimeType: 'text/markdown' }, ['notes.md']],
      ['of one type wildcard', { query: 'payment', mimeType: 'text/*' }, ['Payment', 'incident.md']],
      ['none of another type', { query: 'budget', mimeType: 'image/*' }, []],
      ['at most the limit', { query: 'budget', limit: 1 }, ['budget-2024.csv']],
      ['nothing', { query: 'zzzzz' }, []],
    ])('search_resources finds %s', async (_what, args, names) => {
      expect(await found('search_resources', args, 'resources', 'name')).toEqual(names);
    });

    it('search_resources finds added resources and no removed ones', async () => {
      const uri = 'wiki://zeppelin';
      wiki.resource(uri, undefined, defined({ uri, name: 'Zeppelin' }));
      wiki.broadcast('notifications/resources/list_changed');
      const isFound = async (): Promise<boolean> =>
        textIn(await session.callTool('search_resources', { query: 'zeppelin' }))!.includes(uri);
      await until('the added resource is found', isFound);
      wiki.withoutResource(uri);
      wiki.broadcast('notifications/resources/list_changed');
      await until('the removed resource is not found', async () => !(await isFound()));
      expect(await found('search_resources', { query: 'payment' }, 'resources', 'uri')).toContain(
        'resource://wiki/wiki://payment',
      );
    });

    it('catalog_resource_templates lists the templates, of all servers or of one', async () => {
      const { structuredContent } = await call('catalog_resource_templates');
      expect(structuredContent).toEqual({
        resourceTemplates: [
          {
            uriTemplate: 'resource://files/file:///srv/{name}',
            name: 'any file',
            description: 'Files by name',
            serverId: 'files',
          },
          {
            uriTemplate: 'resource://wiki/wiki://{page}{#section}',
            name: 'any wiki://{page}{#section}',
            serverId: 'wiki',
          },
        ],
      });
      const ofWiki = { serverId: 'wiki', limit: 1 };
      expect(await found('catalog_resource_templates', ofWiki, 'resourceTemplates', 'serverId')).toEqual([
        'wiki',
      ]);
    });
  });

  describe('of tools', () => {
    it('catalog_tools lists summaries without schemas, of all servers or of one, in pages', async () => {
      const { structuredContent } = await call('catalog_tools', { limit: 2 });
      expect(structuredContent!['tools']).toEqual([
        {
          name: 'files__read_text',
          title: 'Read a text',
          description: 'Reads the text of a file',
          serverId: 'files',
        },
        { name: 'files__search_tools', serverId: 'files' },
      ]);
      const { nextCursor } = structuredContent as { nextCursor: string };
      expect(await found('catalog_tools', { cursor: nextCursor }, 'tools', 'name')).toEqual([
        'odd__describe_tool',
        'wiki__edit_page',
      ]);
      expect(await found('catalog_tools', { serverId: 'wiki' }, 'tools', 'name')).toEqual([
        'wiki__edit_page',
      ]);
    });

    it('describe_tool returns the whole definition, also of meta tools', async () => {
      for (const name of ['files__read_text', 'describe_tool']) {
        const { structuredContent } = await call('describe_tool', { name });
        const [listed] = (await session.list('tools')).filter((tool) => tool.name === name);
        expect(structuredContent).toEqual({ tool: listed });
      }
      const result = await call('describe_tool', { name: 'nope' });
      expect(result).toMatchObject({ isError: true, content: [{ text: 'Unknown tool: nope' }] });
    });

    it('search_tools finds tools by their descriptions', async () => {
      expect(await found('search_tools', { query: 'read text' }, 'tools', 'name')).toEqual([
        'files__read_text',
      ]);
      expect(await found('search_tools', { query: 'page' }, 'tools', 'name')).toEqual(['wiki__edit_page']);
    });
  });

  it.each<[string, object, string]>([
    ['search_resources', {}, 'query is required'],
    ['search_resources', { query: '' }, 'query must not be empty'],
    ['search_resources', { query: 7 }, 'query must be a string'],
    ['search_resources', { query: 'x'.repeat(257) }, 'query must not be longer than 256 characters'],
    ['search_tools', { query: 'x', limit: 0 }, 'limit must be a whole number from 1 to 100'],
    ['catalog_resources', { limit: 1001 }, 'limit must be a whole number from 1 to 1000'],
    ['catalog_tools', { serverId: [] }, 'serverId must be a string'],
    ['describe_resource', { uri: 'é'.repeat(4097) }, 'uri must not be longer than 8192 bytes'],
  ])('return an error result for invalid arguments (%s %j)', async (name, args, message) => {
    const { result } = await session.callTool(name, args);
    expect(result).toEqual({ content: [{ type: 'text', text: message }], isError: true });
  });

  it('refuse an array as arguments, and accept none', async () => {
    const wrong = await session.request('tools/call', { name: 'catalog_tools', arguments: [1] });
    expect(wrong.result ?? wrong.error).toMatchObject(wrong.result ? { isError: true } : { code: -32602 });
    const without = await session.request('tools/call', { name: 'catalog_tools' });
    expect(without.result).toHaveProperty('structuredContent');
  });

  it('see only the servers in the scope of their caller', async () => {
    const inside = await RawSession.open(gateway.urlOf('/projects/reading/mcp'));
    const textOf = async (name: string, args: object): Promise<string | undefined> =>
      textIn(await inside.callTool(name, args));
    for (const [name, args] of [
      ['catalog_resources', {}],
      ['catalog_resources', { serverId: 'files' }],
      ['catalog_resource_templates', {}],
      ['catalog_tools', {}],
      ['search_resources', { query: 'budget payment srv' }],
      ['search_tools', { query: 'read text' }],
    ] as const)
      expect([name, await textOf(name, args)]).toEqual([name, expect.not.stringContaining('files')]);
    expect(await textOf('search_resources', { query: 'budget' })).toBe('{"resources":[]}');
    expect(await textOf('describe_resource', { uri: 'file:///srv/logo.png' })).toBe(
      'RESOURCE_NOT_FOUND: resource file:///srv/logo.png is not available',
    );
    expect(await textOf('describe_tool', { name: 'files__read_text' })).toBe(
      'Unknown tool: files__read_text',
    );
    expect(await textOf('search_resources', { query: 'payment' })).toContain('wiki://payment');
    expect((await inside.list('tools')).map(({ name }) => name)).toEqual([...META_TOOLS, 'wiki__edit_page']);
  });

  it.each([
    ['always', 'files', ['files__search_tools']],
    ['conflict', 'odd', ['odd__describe_tool']],
    ['never', 'plain', []],
  ])('do not hide a tool of a server with the same name (%s)', async (_style, server, listed) => {
    const inside = await RawSession.open(gateway.urlOf(`/projects/${server}/mcp`));
    const name = server === 'files' ? 'search_tools' : 'describe_tool';
    const names = (await inside.list('tools')).map((tool) => tool.name);
    expect(names.filter((one) => one.endsWith(name))).toEqual([name, ...listed]);
    expect((await inside.callTool(`${server}__${name}`)).result).toEqual(text(`the own one of ${server}`));
    const args = { query: 'x', name: 'catalog_tools' };
    expect((await inside.callTool(name, args)).result).toHaveProperty('structuredContent');
  });

  it('are not offered with metaTools: false', async () => {
    const without = await startGateway({ metaTools: false, mcpServers: { files: files.http } });
    await without.listed({ tools: ['files'] });
    const client = await RawSession.open(without.url);
    expect((await client.list('tools')).map(({ name }) => name)).toEqual([
      'files__read_text',
      'files__search_tools',
    ]);
    expect((await client.callTool('catalog_tools')).error).toMatchObject({
      code: -32602,
      message: 'Unknown tool: catalog_tools',
    });
    expect((await client.callTool('search_tools')).result).toEqual(text('the own one of files'));
  });
});
