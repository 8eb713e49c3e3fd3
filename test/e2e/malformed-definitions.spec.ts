import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { connectModern, connectV1, connectV2, type ClientV1, type ClientV2 } from '../kit/sdk-clients.js';

/** Definitions for each of which an SDK client refuses the whole page. */
const ODD = {
  'tools/list': {
    tools: [
      { name: 'bare' },
      { name: 'titled', title: 7, inputSchema: { type: 'object' }, annotations: { readOnlyHint: 'yes' } },
      { name: 'unusable', inputSchema: { type: 'string' } },
      { inputSchema: { type: 'object' } },
      { name: 'listing', inputSchema: { type: 'object' }, outputSchema: { type: 'array', items: {} } },
      { name: 'task', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } },
    ],
  },
  'resources/list': {
    resources: [
      { uri: 'odd:nameless', future: { kept: 1 } },
      { uri: 'odd:sized', name: 'sized', size: '3' },
      { uri: 'odd:typed', name: 'typed', mimeType: null, annotations: { lastModified: 'yesterday' } },
      { name: 'nowhere' },
      null,
    ],
  },
  'resources/templates/list': {
    resourceTemplates: [{ uriTemplate: 'odd:{id}' }, { uriTemplate: 'odder:{id}', name: 'n', icons: 'none' }],
  },
  'prompts/list': {
    prompts: [
      { name: 'argued', arguments: 'none' },
      { name: 'plain', description: null },
    ],
  },
};

describe('malformed definitions', () => {
  let gateway: Gateway;
  let clients: (ClientV1 | ClientV2)[];
  let modern: ClientV2;

  beforeAll(async () => {
    const [odd, healthy] = await Promise.all([ScriptedServer.start(), ScriptedServer.start()]);
    const capabilities = { tools: {}, prompts: {}, resources: {} };
    const serverInfo = { name: 'odd', version: '1' };
    odd.on('initialize', () => ({ protocolVersion: '2025-11-25', capabilities, serverInfo }));
    for (const [method, page] of Object.entries(ODD)) odd.on(method, () => page);
    odd.on('tools/call', ({ params }) => ({ content: [], structuredContent: [params] }));
    healthy
      .tool('fine', () => text('fine'))
      .prompt('fine', () => ({ messages: [] }))
      .resource('fine:1')
      .template('fine:{id}');
    gateway = await startGateway({
      mcpServers: { odd: odd.http, healthy: healthy.http },
    });
    const both = ['odd', 'healthy'];
    await gateway.listed({ tools: both, prompts: both, resources: both, resourceTemplates: both });
    modern = await connectModern(gateway.url);
    clients = [await connectV1(gateway.url), await connectV2(gateway.url), modern];
  });

  it('break no list for clients of both SDKs, also beside those of a healthy server', async () => {
    for (const client of clients) {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual([
        'healthy__fine',
        'odd__bare',
        'odd__listing',
        'odd__titled',
      ]);
      const { prompts } = await client.listPrompts();
      expect(prompts.map(({ name }) => name)).toEqual(['healthy__fine', 'odd__argued', 'odd__plain']);
      const { resources } = await client.listResources();
      expect(resources.map(({ name }) => name)).toEqual(['fine:1', 'odd:nameless', 'sized', 'typed']);
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.map(({ name }) => name)).toEqual(['any fine:{id}', 'odd:{id}', 'n']);
    }
  });

  it('make objects of other output up to 2025-11-25, as the output schema in the list says', async () => {
    for (const client of clients) {
      // An SDK client validates the content against the schema of its last list.
      await client.listTools();
      const { structuredContent } = await client.callTool({ name: 'odd__listing' });
      const output = [{ name: 'listing' }];
      expect(structuredContent).toEqual(client === modern ? output : { result: output });
    }
  });

  it('of a tool that needs tasks make it unknown', async () => {
    const session = await RawSession.open(gateway.url);
    const { error } = await session.callTool('odd__task');
    expect(error).toMatchObject({ code: -32602, message: 'Unknown tool: odd__task' });
    const message = 'tools/list: definitions that need tasks are not listed';
    expect(await gateway.logged({ message })).toMatchObject({ server: 'odd', count: 1 });
  });

  it('do not prevent a call that asks for a task, which runs without it', async () => {
    const session = await RawSession.open(gateway.url);
    const { result } = await session.request('tools/call', { name: 'odd__bare', task: { ttl: 1 }, x: 1 });
    expect(result).toMatchObject({ structuredContent: { result: [{ name: 'bare', x: 1 }] } });
  });

  it('are logged once per list, with their number', async () => {
    for (const [method, count] of [
      ['tools/list', 4],
      ['resources/list', 5],
      ['resources/templates/list', 2],
      ['prompts/list', 2],
    ] as const) {
      const message = `${method}: invalid definitions were repaired or left out`;
      expect(await gateway.logged({ message })).toMatchObject({ server: 'odd', count });
      expect(gateway.logs.filter((entry) => entry.message === message)).toHaveLength(1);
    }
  });
});
