import { beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { ScriptedServer } from '../kit/scripted-server/scripted-server.js';
import { connectV1, connectV2, type ClientV1, type ClientV2 } from '../kit/sdk-clients.js';

const contentsOf = async (client: ClientV1 | ClientV2, uri: string): Promise<unknown> =>
  (await client.readResource({ uri })).contents;

const uiResourceOf = ({ _meta: meta }: { _meta?: unknown }): string =>
  (meta as { ui: { resourceUri: string } }).ui.resourceUri;

/** MCP, tools: resource links that a tool returns need not appear in `resources/list`. */
describe('unlisted resource links', () => {
  let server: ScriptedServer;
  let gateway: Gateway;
  let clients: (ClientV1 | ClientV2)[];

  beforeAll(async () => {
    server = await ScriptedServer.start();
    server.resource('listed:1').tool(
      'render',
      () => ({
        content: [{ type: 'resource_link', uri: 'made:just-now', name: 'made' }],
        _meta: { ui: { resourceUri: 'ui://result/view' } },
      }),
      '{"name":"render","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://app/index.html"}}}',
    );
    gateway = await startGateway({
      mcpServers: { app: server.http },
      projects: { empty: { servers: [] } },
    });
    await gateway.listed({ tools: ['app'], resources: ['app'] });
    clients = await Promise.all([connectV1(gateway.url), connectV2(gateway.url)]);
  });

  it('are not readable before a tool or result contained them, and no server gets a request', async () => {
    const before = server.countOf('resources/read');
    for (const uri of ['resource://app/made:just-now', 'ui://app/result/view', 'ui://app/never/named'])
      await expect(clients[0]!.readResource({ uri })).rejects.toMatchObject({ code: -32002 });
    expect(server.countOf('resources/read')).toBe(before);
  });

  it('are readable by clients of both SDKs after a tool or result contained them', async () => {
    for (const client of clients) {
      const { tools } = await client.listTools();
      const ui = uiResourceOf(tools[0]!);
      expect(await contentsOf(client, ui)).toMatchObject([{ uri: ui, text: 'read ui://app/index.html' }]);
      const result = await client.callTool({ name: 'app__render' });
      const [link] = result.content as { uri: string }[];
      expect(await contentsOf(client, link!.uri)).toMatchObject([
        { uri: link!.uri, text: 'read made:just-now' },
      ]);
      const view = uiResourceOf(result);
      expect(await contentsOf(client, view)).toMatchObject([{ uri: view, text: 'read ui://result/view' }]);
    }
  });

  it('can be subscribed to', async () => {
    await clients[0]!.callTool({ name: 'app__render' });
    expect(await clients[0]!.subscribeResource({ uri: 'resource://app/made:just-now' })).toBeDefined();
  });

  it('stay unknown to clients whose project lacks the server', async () => {
    const outsider = await connectV1(gateway.urlOf('/projects/empty/mcp'));
    await clients[0]!.callTool({ name: 'app__render' });
    await expect(outsider.readResource({ uri: 'resource://app/made:just-now' })).rejects.toMatchObject({
      code: -32002,
    });
  });
});
